//! Sets of messages, by id.

/// A set of candidate messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Ids {
    /// No index limits it: any message.
    All,
    /// These, sorted, without duplicates.
    Some(Vec<i64>),
}

impl Ids {
    /// Makes a set of ids in any order.
    pub(super) fn of(mut ids: Vec<i64>) -> Self {
        if !ids.is_sorted() {
            ids.sort_unstable();
        }
        ids.dedup();
        Self::Some(ids)
    }

    /// Returns the intersection.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, set) | (set, Self::All) => set,
            (Self::Some(left), Self::Some(right)) => Self::Some(common(&left, &right)),
        }
    }

    /// Returns the union.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::All, _) | (_, Self::All) => Self::All,
            (Self::Some(left), Self::Some(right)) if right.is_empty() => Self::Some(left),
            (Self::Some(left), Self::Some(right)) if left.is_empty() => Self::Some(right),
            (Self::Some(mut left), Self::Some(right)) => {
                left.extend(right);
                Self::of(left)
            }
        }
    }
}

/// Returns the intersection of two sorted lists. Walks along the shorter one, so that a few against many cost little.
fn common(left: &[i64], right: &[i64]) -> Vec<i64> {
    let (short, mut long) = if left.len() <= right.len() { (left, right) } else { (right, left) };
    let mut both = Vec::with_capacity(short.len());
    for id in short {
        // Galloping search: doubles the distance, then searches between the last two positions.
        let mut ahead = 1;
        while ahead < long.len() && long[ahead] < *id {
            ahead *= 2;
        }
        let window = &long[..long.len().min(ahead + 1)];
        long = &long[window.partition_point(|other| other < id)..];
        match long.first() {
            None => break,
            Some(other) if other == id => both.push(*id),
            Some(_) => {}
        }
    }
    both
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_joined_and_cut() {
        let some = |ids: &[i64]| Ids::Some(ids.to_vec());
        assert_eq!(Ids::of(vec![3, 1, 3]), some(&[1, 3]));
        assert_eq!(some(&[1, 3, 5]).and(some(&[0, 1, 2, 3, 4, 6, 7, 8])), some(&[1, 3]));
        assert_eq!(some(&[9]).and(some(&(0..100).collect::<Vec<_>>())), some(&[9]));
        assert_eq!(some(&[1]).and(some(&[])), some(&[]));
        assert_eq!(some(&[1, 3]).or(some(&[2, 3])), some(&[1, 2, 3]));
        assert_eq!(some(&[1]).and(Ids::All), some(&[1]));
        assert_eq!(some(&[1]).or(Ids::All), Ids::All);
    }
}
