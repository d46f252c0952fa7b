//! Generation of operations about live data.

use super::{Live, Newest, Owner, Relies, Taking};
use crate::fixture::source;
use crate::property::strategy::{Traces, batch, end_reason, message, time, usage};
use hermes_session::live::{
    Account, Inbound, NewOutbound, NewPart, Origin, ResetCause, RouteKey, RoutePatch, Settled, Switch, SwitchTo,
    Termination, TurnClose, TurnKind,
};
use hermes_session::{NewSession, SessionId};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// The pool of chats.
pub(super) const CHATS: [&str; 4] = ["7", "8", "大", "7:8"];

/// Generates what a request relies on: mostly nothing.
pub(in crate::property) fn relies() -> impl Strategy<Value = Relies> {
    let owner = prop_oneof![4 => Just(Owner::Present), 1 => Just(Owner::Former)];
    let newest = prop_oneof![4 => Just(Newest::Known), 1 => Just(Newest::Nothing)];
    (option::weighted(0.3, owner), option::weighted(0.15, newest)).prop_map(|(owner, newest)| Relies { owner, newest })
}

/// Generates a change of live data.
pub(in crate::property) fn operation(traces: &Traces) -> BoxedStrategy<Live> {
    let known = || traces.known();
    let taking = || {
        prop_oneof![
            3 => Just(Taking::Free),
            2 => Just(Taking::Idle),
            2 => Just(Taking::Forced),
            1 => Just(Taking::ForcedFromAnother),
        ]
    };
    prop_oneof![
        6 => (known(), process(), taking()).prop_map(|(session, process, take)| Live::Acquire { session, process, take }),
        1 => (known(), any::<bool>()).prop_map(|(session, is_busy)| Live::Renew { session, is_busy }),
        1 => known().prop_map(Live::Release),
        5 => (known(), kind(), option::of(place_of_pool()), said())
            .prop_map(|(session, kind, route, said)| Live::OpenTurn { session, kind, route, said }),
        1 => index().prop_map(Live::ResumeTurn),
        4 => (index(), close()).prop_map(|(turn, close)| Live::CloseTurn(turn, close)),
        4 => (known(), index()).prop_map(|(session, from)| Live::Undo(session, from)),
        3 => (prop::collection::vec(inbound(known()), 0..3), option::weighted(0.3, Just("cursor".to_owned())))
            .prop_map(|(batch, cursor)| Live::Receive(batch, cursor)),
        1 => (prop::collection::vec(index(), 0..2), prop::collection::vec(reply(), 0..2))
            .prop_map(|(rows, replies)| Live::Post(rows, replies)),
        2 => (process(), 1..4_u32).prop_map(|(process, limit)| Live::TakeOutbound { process, limit }),
        2 => (index(), prop::bool::weighted(0.8), settled())
            .prop_map(|(part, is_current, how)| Live::SettleOutbound { part, is_current, how }),
        1 => time().prop_map(Live::ForgetMail),
        4 => (switch(traces), prop::bool::weighted(0.8))
            .prop_map(|(switch, is_expected)| Live::Switch { switch, is_expected }),
        1 => (place_of_pool(), place_of_pool()).prop_map(|(from, to)| Live::Rekey(from, to)),
        1 => (place_of_pool(), patch()).prop_map(|(key, patch)| Live::PatchRoute(key, patch)),
    ]
    .boxed()
}

/// Returns the place of a chat.
pub(super) fn place(chat: &str) -> RouteKey {
    RouteKey {
        platform: "telegram".into(),
        account: "telegram:1".into(),
        chat_type: "dm".into(),
        chat: chat.into(),
        thread: None,
        participant: None,
    }
}

fn place_of_pool() -> impl Strategy<Value = RouteKey> {
    select(&CHATS[..]).prop_map(place)
}

fn process() -> impl Strategy<Value = i64> {
    1..4_i64
}

fn index() -> impl Strategy<Value = usize> {
    prop_oneof![3 => Just(0), 1 => 0..3_usize]
}

fn kind() -> impl Strategy<Value = TurnKind> {
    select(&[TurnKind::Person, TurnKind::Person, TurnKind::Memory][..])
}

fn said() -> impl Strategy<Value = Vec<(hermes_session::NewMessage, Option<usize>)>> {
    prop::collection::vec((message(), option::weighted(0.3, index())), 0..3)
}

fn reply() -> impl Strategy<Value = NewOutbound> {
    let text = || select(&["", "part", "大"][..]).prop_map(str::to_owned);
    let part = (text(), option::of(text())).prop_map(|(body, plain)| NewPart { body, plain, nonce: "nonce".into() });
    (select(&["chat 7", "chat 8"][..]), prop::collection::vec(part, 0..3)).prop_map(|(destination, parts)| {
        NewOutbound { account: Account::from_stored("telegram:1"), destination: destination.into(), parts }
    })
}

fn close() -> impl Strategy<Value = TurnClose> {
    (batch(), option::weighted(0.3, usage()), option::weighted(0.3, 0..99_i64), prop::collection::vec(reply(), 0..2))
        .prop_map(|(messages, usage, prompt_tokens, outbound)| TurnClose { messages, usage, prompt_tokens, outbound })
}

fn inbound(session: BoxedStrategy<SessionId>) -> impl Strategy<Value = Inbound> {
    let number = select(&["1", "2", "3", "4", "5"][..]);
    (select(&CHATS[..]), number, any::<bool>(), option::weighted(0.2, session)).prop_map(
        |(chat, number, has_route, session)| Inbound {
            chat: chat.into(),
            message_id: number.into(),
            route: has_route.then(|| place(chat)),
            session,
            payload: "payload".into(),
        },
    )
}

fn settled() -> impl Strategy<Value = Settled> {
    let error = || Just("error".to_owned());
    prop_oneof![
        3 => option::of(Just("p1".to_owned())).prop_map(|platform_id| Settled::Sent { platform_id }),
        2 => (time(), any::<bool>(), error())
            .prop_map(|(not_before, certain, error)| Settled::Later { not_before, certain, error }),
        1 => error().prop_map(|error| Settled::Refused { error }),
        1 => error().prop_map(|error| Settled::GivenUp { error }),
    ]
}

fn notice() -> impl Strategy<Value = Option<String>> {
    option::weighted(0.4, select(&["", "was reset", "大\n"][..]).prop_map(str::to_owned))
}

fn switch(traces: &Traces) -> impl Strategy<Value = Switch> + use<> {
    let to = prop_oneof![
        2 => traces.known().prop_map(SwitchTo::Existing),
        1 => traces.unknown().prop_map(|id| SwitchTo::New(Box::new(NewSession::new(id, source("telegram"))))),
    ];
    let cause = option::of(select(&[ResetCause::Idle, ResetCause::Daily][..]));
    let end = option::of((end_reason(), cause).prop_map(|(reason, cause)| Termination { reason, cause }));
    let origin = option::weighted(0.3, Just(Origin { session_key: "k".into(), source: None, display_name: None }));
    (place_of_pool(), to, end, origin, notice()).prop_map(|(key, to, end, origin, notice)| Switch {
        key,
        expected: None,
        to,
        end,
        origin,
        notice,
    })
}

fn patch() -> impl Strategy<Value = RoutePatch> {
    (option::of(any::<bool>()), option::of(notice()), option::of(option::of(0..9_i64)))
        .prop_map(|(suspended, notice, last_prompt_tokens)| RoutePatch { suspended, notice, last_prompt_tokens })
}
