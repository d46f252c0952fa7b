use super::*;

fn write(fence: i64, number: u32) -> Write {
    Write { fence, number }
}

/// Two owners: token 10 writes messages 1 and 2, then token 20 is granted and writes message 3.
fn sound() -> (Vec<Vec<Event>>, Vec<Committed>) {
    let made = |fence, number| [Event::Trying(write(fence, number)), Event::Wrote(write(fence, number))];
    let mut first = vec![Event::Granted { fence: 10, newest: 0 }];
    first.extend(made(10, 1).into_iter().chain(made(10, 2)));
    first.extend([Event::Trying(write(10, 3)), Event::Refused(write(10, 3)), Event::Ended { fence: 10 }]);
    let mut second = vec![Event::Granted { fence: 20, newest: 2 }];
    second.extend(made(20, 1));
    // A grant that nothing was written under, and a write of which the answer was lost.
    second.extend([Event::Granted { fence: 30, newest: 3 }, Event::Granted { fence: 40, newest: 3 }]);
    second.push(Event::Trying(write(40, 1)));
    (vec![first, second], vec![(1, write(10, 1)), (2, write(10, 2)), (3, write(20, 1)), (4, write(40, 1))])
}

#[test]
fn a_sound_history_is_proved() {
    let (histories, committed) = sound();
    let proved = Proved { grants: 4, writes: 3, refused: 1, unacknowledged: 1 };
    assert_eq!(check(&histories, &committed), Ok(proved));
    assert_eq!(check(&histories, &committed[..3]), Ok(Proved { unacknowledged: 0, ..proved }));
}

#[test]
fn a_write_of_an_old_owner_is_found() {
    let (mut histories, mut committed) = sound();
    histories[0].extend([Event::Granted { fence: 5, newest: 0 }, Event::Trying(write(5, 1))]);
    for (place, id) in [(3, 30), (4, 50)] {
        let mut late = committed.clone();
        late.iter_mut().for_each(|(id, _)| *id *= 10);
        late.insert(place, (id + 5, write(10, 4)));
        let mut histories = histories.clone();
        histories.iter_mut().flatten().for_each(|event| {
            if let Event::Granted { newest, .. } = event {
                *newest *= 10;
            }
        });
        histories[0].insert(1, Event::Trying(write(10, 4)));
        let violation = check(&histories, &late).unwrap_err();
        assert!(violation.contains("of token 10 was committed after token"), "{violation}");
    }
    // Two grants after the same message, and both wrote: one of them was not the last.
    committed.push((5, write(30, 1)));
    histories[1].push(Event::Trying(write(30, 1)));
    let violation = check(&histories, &committed).unwrap_err();
    assert!(violation.contains("both were granted after message 3"), "{violation}");
}

#[test]
fn lost_doubled_and_refused_writes_are_found() {
    let (histories, committed) = sound();
    let found = |histories: &[Vec<Event>], committed: &[Committed]| check(histories, committed).unwrap_err();
    assert!(found(&histories, &committed[1..]).contains("acknowledged, and is not stored"));
    let doubled = [&committed[..], &[(9, write(40, 1))]].concat();
    assert!(found(&histories, &doubled).contains("stored twice"));
    let refused = [&committed[..2], &[(3, write(10, 3))], &committed[2..]].concat();
    assert!(found(&histories, &refused).contains("was refused, and is stored"));
    let unknown = [&committed[..], &[(9, write(40, 2))]].concat();
    assert!(found(&histories, &unknown).contains("that nobody made"));
    let mut late = histories.clone();
    late[0].push(Event::Wrote(write(10, 2)));
    assert!(found(&late, &committed).contains("although its lease had ended"));
    let mut twice = histories.clone();
    twice[0].push(Event::Granted { fence: 20, newest: 9 });
    assert!(found(&twice, &committed).contains("granted twice"));
    let mut early = histories;
    early[0][0] = Event::Granted { fence: 10, newest: 1 };
    assert!(found(&early, &committed).contains("older than the grant"));
}

#[test]
fn events_are_read_back_from_lines() {
    for event in sound().0.into_iter().flatten() {
        assert_eq!(Event::from_line(&event.to_line()), Some(event));
    }
    for line in ["", "granted", "granted 1", "granted 1 x", "wrote 1", "ended", "other 1 2"] {
        assert_eq!(Event::from_line(line), None, "{line}");
    }
}
