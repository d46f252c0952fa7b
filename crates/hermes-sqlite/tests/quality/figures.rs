//! Recall and precision by class.

use crate::classes::classes;
use crate::corpus::corpus;
use crate::peer::Peer;
use crate::{filled, question};
use hermes_conformance::oracle;
use hermes_session::search::SearchRequest;
use hermes_session::search::fold::fold;
use std::collections::BTreeSet;
use std::time::Duration;

/// Recall: the share of matching messages that was found. Precision: the share of found messages that match.
#[derive(Default, Clone, Copy)]
struct Figures {
    recall: f64,
    precision: f64,
}

impl Figures {
    /// Returns the mean over queries. If nothing is found, precision is 1.
    fn of(answers: &[(BTreeSet<usize>, BTreeSet<usize>)]) -> Self {
        let share = |part: usize, whole: usize| if whole == 0 { 1.0 } else { part as f64 / whole as f64 };
        let mut sum = Self::default();
        for (meant, found) in answers {
            let both = meant.intersection(found).count();
            sum.recall += share(both, meant.len());
            sum.precision += share(both, found.len());
        }
        let count = answers.len() as f64;
        Self { recall: sum.recall / count, precision: sum.precision / count }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_class_is_found_whole() {
    let said = corpus();
    let texts: Vec<String> = said.iter().map(|said| fold(&said.searched()).into_owned()).collect();
    let filled = filled(&said).await;
    let mut peer = Peer::filled(&said);
    println!("{} messages; recall and precision, ours and the agent's", said.len());
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    let mut count = 0;
    for class in classes(&said) {
        let (mut our, mut their) = (Vec::new(), Vec::new());
        for asked in &class.asked {
            let meant: BTreeSet<usize> = (0..texts.len()).filter(|place| asked.means(&texts[*place])).collect();
            if meant.is_empty() {
                // The random corpus does not contain it.
                continue;
            }
            let timeout = Duration::from_secs(100);
            let request = SearchRequest { relax: false, timeout, ..question(&asked.text) };
            let hits = oracle::every_page(&filled.store, &request).await.unwrap();
            our.push((meant.clone(), hits.iter().map(|hit| hit.message.0 as usize - 1).collect()));
            if let Some(peer) = &mut peer {
                their.push((meant, peer.found(&asked.text)));
            }
            count += 1;
        }
        assert!(2 * our.len() > class.asked.len(), "{} is hardly anywhere", class.name);
        let asked = our.len();
        let our = Figures::of(&our);
        let beside = match peer {
            None => "peer not there".to_owned(),
            Some(_) => {
                let their = Figures::of(&their);
                theirs.push(their);
                format!("{:.3}  {:.3}", their.recall, their.precision)
            }
        };
        println!("{:<36} {:>3}  {:.3}  {:.3}  {beside}", class.name, asked, our.recall, our.precision);
        ours.push((class.name, our));
    }
    let mean = |figures: &[Figures]| {
        let sum = |of: fn(&Figures) -> f64| figures.iter().map(of).sum::<f64>() / figures.len().max(1) as f64;
        format!("{:.3}  {:.3}", sum(|figures| figures.recall), sum(|figures| figures.precision))
    };
    let all: Vec<Figures> = ours.iter().map(|(_, figures)| *figures).collect();
    println!("{:<36} {count:>3}  {}  {}", format!("mean of {} classes", all.len()), mean(&all), mean(&theirs));
    println!(
        "classes that the agent finds nothing of: {}",
        theirs.iter().filter(|figures| figures.recall == 0.0).count()
    );
    assert!(ours.len() >= 40);
    for (name, figures) in ours {
        assert!(figures.recall == 1.0 && figures.precision >= 0.95, "{name}: {} {}", figures.recall, figures.precision);
    }
}
