//! Work that continues while something else is awaited, without a runtime.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// At most one piece of work in progress.
pub(super) struct Meanwhile<'a, T> {
    work: Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
    done: Option<T>,
}

impl<'a, T: Send> Meanwhile<'a, T> {
    pub(super) const fn new() -> Self {
        Self { work: None, done: None }
    }

    /// Starts work. It makes progress in [`during`](Self::during) and [`end`](Self::end) only. Earlier work must have ended.
    pub(super) fn start(&mut self, work: impl Future<Output = T> + Send + 'a) {
        debug_assert!(self.work.is_none() && self.done.is_none(), "earlier work was not waited for");
        self.work = Some(Box::pin(work));
    }

    /// Awaits something else while the work makes progress.
    pub(super) async fn during<R>(&mut self, other: impl Future<Output = R> + Send) -> R {
        let mut other = pin!(other);
        poll_fn(|context| {
            self.advance(context);
            other.as_mut().poll(context)
        })
        .await
    }

    /// Waits for the end of the work. Returns its result, or `None` if none was started.
    pub(super) async fn end(&mut self) -> Option<T> {
        poll_fn(|context| {
            self.advance(context);
            if self.work.is_some() { Poll::Pending } else { Poll::Ready(self.done.take()) }
        })
        .await
    }

    fn advance(&mut self, context: &mut Context<'_>) {
        if let Some(work) = &mut self.work
            && let Poll::Ready(result) = work.as_mut().poll(context)
        {
            (self.work, self.done) = (None, Some(result));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::task::Waker;

    /// Is pending a number of times.
    async fn pending(times: u32, polled: &AtomicU32) -> u32 {
        for _ in 0..times {
            let mut is_over = false;
            poll_fn(|_| if std::mem::replace(&mut is_over, true) { Poll::Ready(()) } else { Poll::Pending }).await;
            polled.fetch_add(1, Ordering::Relaxed);
        }
        times
    }

    fn run<R>(future: impl Future<Output = R>) -> R {
        let (mut future, mut context) = (pin!(future), Context::from_waker(Waker::noop()));
        loop {
            if let Poll::Ready(result) = future.as_mut().poll(&mut context) {
                return result;
            }
        }
    }

    #[test]
    fn work_advances_while_something_else_is_awaited() {
        let polled = AtomicU32::new(0);
        let mut meanwhile = Meanwhile::new();
        assert_eq!(run(meanwhile.end()), None);
        meanwhile.start(pending(5, &polled));
        assert_eq!(run(meanwhile.during(pending(3, &AtomicU32::new(0)))), 3);
        assert!(polled.load(Ordering::Relaxed) >= 3);
        assert_eq!(run(meanwhile.end()), Some(5));
        meanwhile.start(pending(1, &polled));
        assert_eq!(run(meanwhile.during(pending(9, &AtomicU32::new(0)))), 9, "the work ended first");
        assert_eq!((run(meanwhile.end()), run(meanwhile.end())), (Some(1), None));
    }

    #[test]
    fn two_pieces_of_work_are_awaited_together() {
        let (one, other) = (AtomicU32::new(0), AtomicU32::new(0));
        let mut meanwhile = Meanwhile::new();
        meanwhile.start(pending(4, &one));
        let there = run(meanwhile.during(pending(4, &other)));
        assert_eq!((there, run(meanwhile.end())), (4, Some(4)));
        assert_eq!(one.load(Ordering::Relaxed), 4);
    }
}
