//! A file of each release that we are guests of: opened, read, written, then read again by the release that made it.

use crate::fixture::File;
use crate::on_their_file::{populate, read, read_again, write};
use crate::peer::Release;

async fn its_file_serves_us_and_still_serves_it(release: &Release) {
    let file = File::new();
    let mut peer = release.open(&file);
    let bodies = populate(&mut peer);
    // Nobody has the file open when we come.
    peer.close();
    let before = file.foreign_schema();
    let store = file.open();
    read(&store, &bodies).await;
    write(&store).await;
    drop(store);
    let store = file.open();
    let mut peer = release.open(&file);
    read_again(&store, &mut peer).await;
    peer.close();
    drop(store);
    assert_eq!(file.foreign_schema(), before, "something of theirs was altered");
    file.check();
    file.check_counters();
}
scenario!(its_file_serves_us_and_still_serves_it:
    release_0_15_2 "0.15.2", release_0_16_0 "0.16.0", release_0_17_0 "0.17.0", release_0_18_2 "0.18.2",
    release_0_19_0 "0.19.0");
