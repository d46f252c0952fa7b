//! The table of methods compared with the agent's own source.

use hermes_conformance::agent;
use std::process::Command;

/// Prints the signature of each public method, with `**kwargs` replaced by the parameters they are passed to.
const READ: &str = r#"
import ast, sys
tree = ast.parse(open(sys.argv[1], encoding="utf-8").read())
store = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == "SessionDB")
methods = {node.name: node for node in store.body if isinstance(node, ast.FunctionDef)}

def parameters(node):
    arguments = node.args.args
    defaults = [None] * (len(arguments) - len(node.args.defaults)) + node.args.defaults
    if not any(getattr(mark, "id", "") == "staticmethod" for mark in node.decorator_list):
        arguments, defaults = arguments[1:], defaults[1:]
    plain = list(zip(arguments, defaults))
    return [(a.arg, d) for a, d in plain], [(a.arg, d) for a, d in zip(node.args.kwonlyargs, node.args.kw_defaults)]

def spelled(pairs):
    return [name if default is None else f"{name}={ast.unparse(default)}" for name, default in pairs]

for name, node in methods.items():
    if name.startswith("_"):
        continue
    plain, named = parameters(node)
    if node.args.kwarg:
        known = {name for name, _ in plain}
        named = [pair for pair in parameters(methods["_insert_session_row"])[0] if pair[0] not in known]
    print(f"{name}({', '.join(spelled(plain) + (['*'] if named else []) + spelled(named))})")
"#;

#[test]
fn every_method_of_the_agent_is_in_the_table_with_its_parameters_and_defaults() {
    let release = match agent::release(agent::PEER) {
        Ok(release) => release,
        Err(why) => return println!("skipped: {why}"),
    };
    let source = release.join("hermes_state.py");
    let output = Command::new("python3").args(["-c", READ]).arg(source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let printed = String::from_utf8(output.stdout).unwrap();
    let mut theirs: Vec<&str> = printed.lines().collect();
    let mut ours = hermes_rpc::signatures().0;
    theirs.sort_unstable();
    ours.sort_unstable();
    assert!(theirs.len() > 40, "{theirs:?}");
    assert_eq!(ours, theirs);
}
