//! Languages of questions: the words that only hold a question together, and the stems of the others.

use super::super::fold::fold;
use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The longest word that is stemmed, in bytes. What is longer is no word of a language, and rules take long over it.
const MAX_STEMMED: usize = 64;

/// A language, by its place in [`LANGUAGES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Language(u8);

struct Rules {
    algorithm: Algorithm,
    stop_words: &'static str,
}

/// English comes first: names, code and borrowed words are stemmed by its rules in any text of Latin letters.
const LANGUAGES: &[Rules] = &[
    Rules { algorithm: Algorithm::English, stop_words: ENGLISH },
    Rules { algorithm: Algorithm::German, stop_words: GERMAN },
    Rules { algorithm: Algorithm::French, stop_words: FRENCH },
    Rules { algorithm: Algorithm::Spanish, stop_words: SPANISH },
    Rules { algorithm: Algorithm::Italian, stop_words: ITALIAN },
    Rules { algorithm: Algorithm::Portuguese, stop_words: PORTUGUESE },
    Rules { algorithm: Algorithm::DutchPorter, stop_words: DUTCH },
    Rules { algorithm: Algorithm::Swedish, stop_words: SWEDISH },
    Rules { algorithm: Algorithm::Danish, stop_words: DANISH },
    Rules { algorithm: Algorithm::Norwegian, stop_words: NORWEGIAN },
    Rules { algorithm: Algorithm::Polish, stop_words: POLISH },
    Rules { algorithm: Algorithm::Turkish, stop_words: TURKISH },
    Rules { algorithm: Algorithm::Russian, stop_words: RUSSIAN },
    Rules { algorithm: Algorithm::Ukrainian, stop_words: UKRAINIAN },
    Rules { algorithm: Algorithm::Greek, stop_words: GREEK },
];

pub(super) const ENGLISH_RULES: Language = Language(0);
const RUSSIAN_RULES: Language = Language(12);
const GREEK_RULES: Language = Language(14);

const ENGLISH: &str = "a about after again all also am an and any anyone anything are aren as at be because been before being but by can cannot could couldn d did didn do does doesn doing don down during each else ever every for from further get gets getting got had hadn has hasn have haven having he her here hers herself him himself his how i if in into is isn it its itself just ll m maybe many me mine more most much my myself no nor not now of off on once one only or other our ours ourselves out over own please re remember remind s same say said shall she should shouldn since so some somebody someone something still such t tell than that the their theirs them themselves then there these they thing things this those though through to too until up us ve very was wasn we were weren what when where whether which while who whom whose why will with won would wouldn yes yet you your yours yourself";
const GERMAN: &str = "ab aber alle allem allen aller alles als also am an andere anderen auch auf aus bei beim bin bis bist bitte da dabei damals damit dann das dass davon dazu dein deine deinem deinen deiner dem den denn der deren des dessen dich die dies diese diesem diesen dieser dieses dir doch dort du durch eh ein eine einem einen einer eines einmal er es etwas euch euer eure für gab gar gegen gewesen hab habe haben habt hast hat hatte hatten hattest hatten hier hin ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins irgendwas irgendwie irgendwo ist ja jede jedem jeden jeder jedes jemand jene jetzt kann kannst kein keine keinen keiner konnte können könnte man manche mehr mein meine meinem meinen meiner meines mich mir mit muss musst musste müssen nach nein nicht nichts noch nochmal nun nur ob oder ohne schon sehr sein seine seinem seinen seiner seit sich sie sind so soll sollte sollten solche sondern sonst um und uns unser unsere unserem unseren unserer unter über vom von vor wann war waren warst warum was weil welche welchem welchen welcher welches wem wen wenn wer werde werden wessen wie wieder wieso wieviel will wir wird wo wobei wodurch wofür woher wohin womit woran worauf worden worin worüber wovon wozu wurde wurden würde zu zum zur zwischen";
const FRENCH: &str = "a ai aie ait alors as au aucun aucune auquel aura aurait aussi autre autres aux avaient avais avait avant avec avez aviez avions avoir avons ayant c ça car ce ceci cela celle celles celui ces cet cette ceux chez ci combien comme comment d dans de depuis des dont du déjà elle elles en encore entre es est et étaient étais était étant été êtes être eu eux faire fait fallait faut il ils j je l la là laquelle le lequel les lesquelles lesquels leur leurs lui m ma mais me même mes moi mon n ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi pu qu quand que quel quelle quelles quelqu quelque quelques quels qui quoi s sa sans se sera serait ses si sommes son sont sous suis sur t ta te tes toi ton tous tout toute toutes très tu un une va vais vos votre vous y";
const SPANISH: &str = "a acerca al algo alguien algún alguna algunas alguno algunos ante antes aquel aquella así aún aunque cada casi como cómo con contra cual cuál cuales cuáles cualquier cuando cuándo cuanta cuánta cuantas cuántas cuanto cuánto cuantos cuántos de del desde donde dónde dos durante e el él ella ellas ellos en entonces entre era eran eras eres es esa esas ese eso esos esta está estaba estaban estado están estar estas este esto estos estoy fue fueron fui ha había habían haber hace hacer hacia han hasta hay he hemos hubo la las le les lo los más me mi mí mis mismo mucho muy nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco poder por porque podía puede pues que qué quien quién quienes quiénes se sea ser será si sí sido sin sino sobre solo sólo son soy su sus también tan tanto te tenemos tener tengo tenía tenía tiene tienen ti tu tú tus tuve un una unas uno unos usted ustedes va vamos voy y ya yo";
const ITALIAN: &str = "a abbiamo ad agli ai al alla alle allo anche ancora avere aveva avevamo c che chi ci cioè co come con cosa cui da dagli dai dal dalla dalle dallo degli dei del dell della delle dello di do dov dove due e è ed era erano eravamo essere fa fatto fra fu gli già ha hai hanno ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nell nella nelle nello no noi non nostra nostre nostri nostro o ogni per perché però più po poi prima qual quale quali qualcosa qualcuno quando quanta quante quanti quanto quella quelle quelli quello questa queste questi questo qui sarà se sei senza si sia siamo siete solo sono sta stata state stati stato su sua sue sugli sui sul sulla sulle sullo suo suoi te ti tra tu tua tue tuo tuoi tutti tutto un una uno va vi voi";
const PORTUGUESE: &str = "a à ao aos aquela aquele aquilo as às até com como da das de dela dele deles depois do dos e é ela elas ele eles em entre era eram essa esse esta está estamos estão estava estavam este eu foi fomos for foram há isso isto já lhe mais mas me mesmo meu meus minha minhas muito na não nas nem no nos nós nossa nossas nosso nossos num numa o onde os ou para pela pelas pelo pelos por porque pra qual quais quando quanta quantas quanto quantos que quê quem são se sem ser será seu seus só sobre somos sou sua suas também te tem têm temos tenho ter teve tinha tu tua tudo um uma umas uns vai você vocês";
const DUTCH: &str = "aan al alles als altijd andere ben bij daar dan dat de der deze die dit doch doen door dus een eens en er ge geen geweest had hadden heb hebben hebt heeft hem het hier hij hoe hoeveel hun iemand iets ik in is ja je jij jou jouw jullie kan kon kunnen maar me meer men met mij mijn moest moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds te tegen toch toen tot u uit uw van veel voor waar waarom wanneer want waren was wat we wel welk welke werd wie wij wil worden wordt zal ze zei zelf zich zij zijn zo zonder zou";
const SWEDISH: &str = "alla allt än är åt att av blev bli blir de dem den denna deras dess dessa det detta dig din dina ditt du där då efter ej eller en er ett från för ha hade han hans har henne hennes hon honom hur här i icke ingen inom inte jag ju kan kunde man med mellan men mig min mina mitt mot mycket ni nu när någon något några och om oss på samma sedan sig sin sina sitta skulle som så till under upp ut utan vad var vara varför varje vars vart vem vems vi vid vilka vilken vilket vår våra vårt";
const DANISH: &str = "af alle alt anden at blev blive bliver da de dem den denne der deres det dette dig din disse dog du efter eller en end er et for fra ham han hans har havde have hende hendes her hos hun hvad hvem hvilke hvilken hvis hvor hvordan hvorfor hvornår i ikke ind ingen jeg jer kan kunne man mange med meget men mig min mine mit mod mon må ned noget nogle nogen nu når og også om op os over på selv sig sin skal skulle som sådan thi til ud under var vi vil ville vor være været";
const NORWEGIAN: &str = "alle at av ble bli blir da de deg den denne der dere det dette di din disse ditt du eller en enn er et ett etter for fra før ha hadde han hans har hennes her hos hun hva hvem hver hvilke hvilken hvis hvor hvordan hvorfor i ikke ingen inn jeg kan kom kunne man mange med meg men mer min mitt mot noe noen nå når og også om opp oss over på seg selv si sin sitt skal skulle slik som til ut var vi vil ville vår være vært";
const POLISH: &str = "a aby ale bardzo bez bo być był była było były będzie ci cię co czego czemu czy dla do gdy gdzie go i ich ile im ja jak jaka jaki jakie jakiej jako je jego jej jest jeszcze jestem już kiedy komu kto która które którego której który których ku lub ma mam mi mnie moja moje mój mu my na nad nam nas nasz nasza nasze nie nic niej nim niż o od on ona one oni ono oraz po pod podczas przed przez przy są się ta tak także tam te tego tej ten też to tu twoja twój tych tylko tym u w was we wszystko z za ze że żeby";
const TURKISH: &str = "acaba ama ancak bana bazı belki ben beni benim bir biz bize bizim bu bunu çok çünkü da daha de defa değil diye en gibi hangi hem hep her hiç için idi ile ise kaç kadar ki kim kimin mi mı mu mü nasıl ne neden nerede nereye niçin niye o olan olarak oldu olduğu ona onlar onu sen senin siz sizin şey şu var ve veya ya yani yok";
const RUSSIAN: &str = "а без был была были было быть в вам вас ваш во вот все всё всего всех вы где да даже для до его ее её ей ему если есть еще ещё ж же за и из или им их к как какая какие каким какими каких какого какое какой каком какому какую ко когда кого кому кто ли либо мне мной мог могла могли может можно мой моя моё мои мы на над надо нам нами нас наш наша наше наши не него нее неё ней нет ни них но ну о об однако он она они оно от откуда очень по под после потом потому почему при про с со сам свой свои себе себя сейчас сколько так также такой там те тебе тебя тем то тобой тогда того тоже той только том тот тут ты у уже хотя чего чей чем через что чтобы чье чья эта эти это этого этой этом этот эту я";
const UKRAINIAN: &str = "а або але без би був була були було бути в вас ви від він вона вони воно все всі де для до є же за з зі і із її їй їм їх й його йому коли кого кому куди ми мене мені мій моя на над нам нас наш не ні ну о об один по при про саме себе скільки так також там те ти тільки то тобі того тоді ту у усе хто це цей ці цього чи чия чий чого чому що щоб як яка яке який якого якої якому які я";
const GREEK: &str = "α αν από για δεν εγώ ειναι είναι εκεί εμείς εσύ η ή ήταν θα και κάτι με μέσα μετά μη μια μου μας να ο οι όταν ότι που πού πως πώς πότε πόσο πόσα ποια ποιο ποιος ποιους σε σου στα στη στην στις στο στον στους τα τι τη την της τις το τον του τους των ως";

/// Which languages have a folded word for a stop word, a bit for each.
static STOP_WORDS: LazyLock<HashMap<String, u16>> = LazyLock::new(|| {
    let mut all = HashMap::new();
    for (language, rules) in LANGUAGES.iter().enumerate() {
        for word in rules.stop_words.split(' ') {
            *all.entry(fold(word).into_owned()).or_default() |= 1 << language;
        }
    }
    all
});

/// The languages that a question can be in.
#[derive(Debug, Clone, Copy)]
pub(super) struct Guess {
    spoken: u16,
}

impl Guess {
    /// Guesses by the stop words that there are: the languages that have the most of them.
    pub(super) fn of<'w>(words: impl Iterator<Item = &'w str>) -> Self {
        let mut counts = [0u32; LANGUAGES.len()];
        for word in words {
            let languages = STOP_WORDS.get(word).copied().unwrap_or_default();
            for (language, count) in counts.iter_mut().enumerate() {
                *count += u32::from(languages >> language & 1);
            }
        }
        let most = counts.iter().copied().max().unwrap_or_default();
        let spoken = counts.iter().enumerate().filter(|(_, count)| most > 0 && **count == most);
        Self { spoken: spoken.map(|(language, _)| 1 << language).sum() }
    }

    /// Whether a folded word says nothing in these languages.
    pub(super) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|languages| languages & self.spoken != 0)
    }

    /// The languages whose rules a word is stemmed by: of those that are spoken, the ones that are written in its letters, and the language that
    /// its letters stand for.
    pub(super) fn rules(self, word: &str) -> Vec<Language> {
        let Some((home, script)) = word.chars().next().and_then(script) else { return Vec::new() };
        let spoken =
            (0..LANGUAGES.len()).filter(|language| self.spoken >> language & 1 == 1 && script.contains(language));
        let mut rules = vec![home];
        // More than a few languages can't be told apart by what was asked, and each makes more words the same.
        rules.extend(spoken.map(|language| Language(language as u8)).filter(|language| *language != home).take(2));
        rules
    }
}

/// The language that stands for the letters of a script, and all that are written in them.
fn script(letter: char) -> Option<(Language, std::ops::Range<usize>)> {
    match letter {
        'a'..='z' | '\u{df}'..='\u{24f}' => Some((ENGLISH_RULES, 0..12)),
        '\u{400}'..='\u{4ff}' => Some((RUSSIAN_RULES, 12..14)),
        '\u{370}'..='\u{3ff}' => Some((GREEK_RULES, 14..15)),
        _ => None,
    }
}

impl Language {
    /// The stem of a folded word.
    pub(super) fn stem(self, word: &str) -> String {
        if word.len() > MAX_STEMMED || !word.chars().all(char::is_alphabetic) {
            return word.to_owned();
        }
        let algorithm = LANGUAGES[usize::from(self.0)].algorithm;
        let stem = Stemmer::create(algorithm).stem(word).into_owned();
        match algorithm {
            // The rules look for `é`, which a folded word does not have: `arrivée` ends in `ee`.
            Algorithm::French if stem.len() > 3 => stem.trim_end_matches('e').to_owned(),
            _ => stem,
        }
    }
}
