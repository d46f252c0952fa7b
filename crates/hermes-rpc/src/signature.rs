//! Signatures of methods, and the binding of arguments to parameters: as in Python, with Python's error messages.

use crate::fail::Fail;
use std::ops::Range;

/// A method: its name and its parameters, in order.
#[derive(Debug)]
pub(crate) struct Signature {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<Parameter>,
}

/// A parameter of a method.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: &'static str,
    /// The default, in Python's spelling.
    pub(crate) default: Option<&'static str>,
    pub(crate) is_keyword_only: bool,
}

/// Arguments as received: the position of each in the line.
#[derive(Debug, Default)]
pub(crate) struct Given {
    pub(crate) positional: Vec<Range<usize>>,
    pub(crate) named: Vec<(String, Range<usize>)>,
}

impl Signature {
    /// Parses `name(a, b=1, *, c=None)`. Defaults contain no commas.
    pub(crate) fn parse(text: &'static str) -> Self {
        let (name, list) = text.split_once('(').unwrap_or((text, ""));
        let mut parameters = Vec::new();
        let mut is_keyword_only = false;
        for part in list.trim_end_matches(')').split(',').map(str::trim).filter(|part| !part.is_empty()) {
            if part == "*" {
                is_keyword_only = true;
                continue;
            }
            let (name, default) = part.split_once('=').map_or((part, None), |(name, default)| (name, Some(default)));
            parameters.push(Parameter { name, default, is_keyword_only });
        }
        Self { name, parameters }
    }

    /// Returns the index of a parameter.
    pub(crate) fn place(&self, name: &str) -> Option<usize> {
        self.parameters.iter().position(|parameter| parameter.name == name)
    }

    /// Returns the position of each parameter's argument; `None` for those that have their default.
    pub(crate) fn bind(&self, given: Given) -> Result<Vec<Option<Range<usize>>>, Fail> {
        let fault = |text: String| Fail::wrong_type(format!("SessionDB.{}() {text}", self.name));
        let takes = self.parameters.iter().take_while(|parameter| !parameter.is_keyword_only).count();
        let count = given.positional.len();
        let mut bound: Vec<Option<Range<usize>>> = vec![None; self.parameters.len()];
        for (place, argument) in bound.iter_mut().zip(given.positional.into_iter().take(takes)) {
            *place = Some(argument);
        }
        for (name, argument) in given.named {
            let place =
                self.place(&name).ok_or_else(|| fault(format!("got an unexpected keyword argument '{name}'")))?;
            if bound[place].replace(argument).is_some() {
                return Err(fault(format!("got multiple values for argument '{name}'")));
            }
        }
        if count > takes {
            return Err(fault(self.too_many(takes, count)));
        }
        self.all_there(&bound).map_err(fault)?;
        Ok(bound)
    }

    /// Returns Python's message for too many arguments. Python counts `self`.
    fn too_many(&self, takes: usize, count: usize) -> String {
        let needs = self.parameters[..takes].iter().filter(|parameter| parameter.default.is_none()).count();
        let arguments = if takes == 0 { "argument" } else { "arguments" };
        let takes = match takes {
            _ if needs < takes => format!("from {} to {}", needs + 1, takes + 1),
            _ => (takes + 1).to_string(),
        };
        let were = if count == 0 { "was" } else { "were" };
        format!("takes {takes} positional {arguments} but {} {were} given", count + 1)
    }

    fn all_there(&self, bound: &[Option<Range<usize>>]) -> Result<(), String> {
        for (is_keyword_only, kind) in [(false, "positional"), (true, "keyword-only")] {
            let missing: Vec<String> = self
                .parameters
                .iter()
                .zip(bound)
                .filter(|(parameter, argument)| {
                    argument.is_none() && parameter.default.is_none() && parameter.is_keyword_only == is_keyword_only
                })
                .map(|(parameter, _)| format!("'{}'", parameter.name))
                .collect();
            let names = match missing.as_slice() {
                [] => continue,
                [one] => one.clone(),
                [one, two] => format!("{one} and {two}"),
                [first @ .., last] => format!("{}, and {last}", first.join(", ")),
            };
            let plural = if missing.len() == 1 { "" } else { "s" };
            return Err(format!("missing {} required {kind} argument{plural}: {names}", missing.len()));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bind(signature: &'static str, positional: usize, named: &[&str]) -> Result<Vec<bool>, String> {
        let given = Given {
            positional: vec![0..1; positional],
            named: named.iter().map(|name| ((*name).to_owned(), 0..1)).collect(),
        };
        let bound = Signature::parse(signature).bind(given).map_err(|fail| fail.text)?;
        Ok(bound.iter().map(Option::is_some).collect())
    }

    #[test]
    fn arguments_find_their_parameters() {
        assert_eq!(bind("f(a, b=1)", 1, &[]), Ok(vec![true, false]));
        assert_eq!(bind("f(a, b=1)", 0, &["b", "a"]), Ok(vec![true, true]));
        assert_eq!(bind("f(a, *, b=None)", 1, &["b"]), Ok(vec![true, true]));
        assert_eq!(bind("f()", 0, &[]), Ok(vec![]));
    }

    #[test]
    fn what_does_not_fit_is_reported_in_pythons_words() {
        for (signature, positional, named, expect) in [
            ("f(a)", 0, &["x"][..], "SessionDB.f() got an unexpected keyword argument 'x'"),
            ("f(a)", 1, &["a"], "SessionDB.f() got multiple values for argument 'a'"),
            ("f(a)", 2, &[], "SessionDB.f() takes 2 positional arguments but 3 were given"),
            ("f()", 1, &[], "SessionDB.f() takes 1 positional argument but 2 were given"),
            ("f(a, b=1)", 3, &[], "SessionDB.f() takes from 2 to 3 positional arguments but 4 were given"),
            ("f(a, b, c, d=1)", 1, &[], "SessionDB.f() missing 2 required positional arguments: 'b' and 'c'"),
            ("f(a, b, c)", 0, &[], "SessionDB.f() missing 3 required positional arguments: 'a', 'b', and 'c'"),
            ("f(*, a)", 0, &[], "SessionDB.f() missing 1 required keyword-only argument: 'a'"),
        ] {
            assert_eq!(bind(signature, positional, named), Err(expect.to_owned()));
        }
    }
}
