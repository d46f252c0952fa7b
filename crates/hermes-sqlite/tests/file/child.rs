//! Copies of this program that act as another process.

use crate::fixture::{at, id, new, user};
use hermes_session::import::{ImportOptions, import};
use hermes_session::search::{Query, SearchRequest};
use hermes_session::{
    ConversationStore as _, DeleteExtent, ListRequest, Maintenance as _, MessageId, Optimizing, RequestKey,
    SessionStore as _,
};
use hermes_sqlite::{SqliteOptions, SqliteStore};
use std::path::Path;
use std::process::{Command, Stdio};

/// The variable that gives a copy of this program its role: a verb, an argument, a file.
const ROLE: &str = "HERMES_TEST_CHILD";
/// How many messages a writer appends.
pub(crate) const EACH: usize = 40;

/// Returns the command for a process that does `verb` with `argument` on a file.
pub(crate) fn child(verb: &str, argument: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "child::a_process_of_its_own", "--nocapture"]);
    command.env(ROLE, format!("{verb}|{argument}|{}", path.display())).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Returns the lines that a child printed after a word.
pub(crate) fn told<'a>(output: &'a [u8], word: &str) -> Vec<&'a str> {
    let prefix = format!("{word} ");
    let lines = std::str::from_utf8(output).unwrap().lines();
    lines.filter_map(|line| line.strip_prefix(prefix.as_str())).collect()
}

/// Plays the role that it was started for. Does nothing when it runs as one of the tests.
#[tokio::test]
async fn a_process_of_its_own() {
    let Ok(role) = std::env::var(ROLE) else { return };
    let [verb, argument, path] = role.splitn(3, '|').collect::<Vec<_>>().try_into().unwrap();
    let opened =
        SqliteStore::open(path.as_ref(), &SqliteOptions { create: verb != "read", ..SqliteOptions::default() });
    let store = match opened {
        Ok(store) => store,
        Err(error) => return println!("\nrefused {error}"),
    };
    match verb {
        "open" => println!("\nopened {}", store.status().await.unwrap().schema_version),
        "write" => write(&store, argument).await,
        "read" => read(&store).await,
        "optimize" => {
            while store.optimize().await.unwrap() != Optimizing::Done {}
            println!("\noptimized yes");
        }
        "append" => append(&store, argument).await,
        "answer" => crate::live::answer(&store).await,
        "fight" => crate::live::fight(&store, argument.parse().unwrap()).await,
        "descriptors" => crate::log::use_it(store, path.as_ref()).await,
        "import" => {
            let mut lines = std::io::BufReader::new(std::fs::File::open(argument).unwrap());
            import(&store, &mut lines, ImportOptions::default(), &mut |_| {}).await.unwrap();
        }
        "delete" => {
            let key = RequestKey::parse(verb).unwrap();
            store.delete(&id(argument), DeleteExtent::Conversation, &at(9.0).keyed(key)).await.unwrap();
        }
        "delete_chain" => {
            let key = RequestKey::parse(verb).unwrap();
            store.delete(&id(argument), DeleteExtent::Chain, &at(9.0).keyed(key)).await.unwrap();
        }
        "trash_chain" => {
            let (key, until) = (RequestKey::parse(verb).unwrap(), at(1e6).at);
            store.trash_chain(&id(argument), until, &at(9.0).keyed(key)).await.unwrap();
        }
        "restore" => {
            store.restore(&id(argument), &at(10.0)).await.unwrap();
        }
        other => panic!("{other}?"),
    }
}

/// Appends and prints each id after it was acknowledged.
async fn write(store: &SqliteStore, name: &str) {
    store.ensure(&new("shared"), &at(1.0)).await.unwrap();
    for n in 0..EACH {
        let MessageId(number) =
            store.append(&id("shared"), &[user(&format!("{name}/{n}"))], &at(n as f64)).await.unwrap()[0];
        println!("\nacknowledged {number} {name}/{n}");
    }
}

/// Appends until its input ends, then prints how many appends were acknowledged.
async fn append(store: &SqliteStore, name: &str) {
    let (told, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while std::io::stdin().read_line(&mut String::new()).is_ok_and(|length| length > 0) {
            told.send(()).unwrap();
        }
    });
    println!("\nready");
    heard.recv().unwrap();
    let mut count = 0;
    while heard.try_recv() != Err(std::sync::mpsc::TryRecvError::Disconnected) {
        store.append(&id("shared"), &[user(&format!("{name}/{count}"))], &at(2.0)).await.unwrap();
        count += 1;
    }
    println!("\nappended {count}");
}

/// Prints the notices, the list, and the outcome of a write.
async fn read(store: &SqliteStore) {
    for notice in store.notices() {
        println!("\nnotice {notice}");
    }
    for row in store.list(&ListRequest::default()).await.unwrap().rows {
        println!("\nrow {}({})", row.id, row.preview);
    }
    let hello = SearchRequest { relax: false, ..SearchRequest::new(Query::parse("hel* OR hello")) };
    let answer = store.search(&hello).await.unwrap();
    let ids: Vec<i64> = answer.hits.iter().map(|hit| hit.message.0).collect();
    println!("\nfound {ids:?} {:?}", answer.served.way);
    let (verified, status) = (store.verify().await, store.status().await);
    println!("\nsound {:?}", verified.map(|report| report.is_sound()));
    println!("\nhealth {:?}", status.map(|status| status.indexes));
    match store.append(&id("a"), &[user("x")], &at(9.0)).await {
        Ok(_) => println!("\nwritten yes"),
        Err(error) => println!("\nerror {error}"),
    }
}
