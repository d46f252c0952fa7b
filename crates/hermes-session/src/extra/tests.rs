use super::*;
use proptest::prelude::*;

fn scalars() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        Just(Scalar::Null),
        any::<i64>().prop_map(Scalar::Integer),
        any::<f64>().prop_filter("SQLite keeps NaN as NULL", |number| !number.is_nan()).prop_map(Scalar::Real),
        any::<String>().prop_map(Scalar::Text),
        any::<Vec<u8>>().prop_map(Scalar::Bytes),
    ]
}

proptest! {
    #[test]
    fn every_value_comes_back_from_json(values in proptest::collection::btree_map(any::<String>(), scalars(), 0..6)) {
        let extra: Extra = values.into_iter().collect();
        prop_assert_eq!(Extra::from_json(&extra.to_json()).unwrap(), extra);
    }
}

#[test]
fn defaults_of_the_agent_are_left_out() {
    let mut extra = Extra::new();
    extra.set(Table::Sessions, "rewind_count", Scalar::Integer(0));
    extra.set(Table::Sessions, "cwd", Scalar::Null);
    assert!(extra.is_empty());
    extra.set(Table::Messages, "observed", Scalar::Null);
    extra.set(Table::Sessions, "rewind_count", Scalar::Integer(2));
    extra.set(Table::Sessions, "unheard_of", Scalar::Integer(0));
    assert_eq!(extra.to_json(), r#"{"observed": null, "rewind_count": 2, "unheard_of": 0}"#);
}

#[test]
fn forms_are_distinguished() {
    let extra: Extra = [
        ("a", Scalar::Real(1.0)),
        ("b", Scalar::Integer(1)),
        ("c", Scalar::Bytes(vec![0xff])),
        ("d", Scalar::Real(f64::NEG_INFINITY)),
        ("e", Scalar::Text("\0\"".into())),
    ]
    .into_iter()
    .collect();
    let json = r#"{"a": 1.0, "b": 1, "c": {"base64": "/w=="}, "d": {"real": "-inf"}, "e": "\u0000\""}"#;
    assert_eq!((extra.to_json().as_str(), Extra::from_json(json).unwrap()), (json, extra));
    for bad in ["[]", r#"{"a": [1]}"#, r#"{"a": {"b": 1}}"#, r#"{"a": {}}"#, r#"{"a": "\ud800"}"#, "{"] {
        assert!(Extra::from_json(bad).is_err(), "{bad}");
    }
}
