use super::*;
use proptest::prelude::*;

fn texts(query: &str) -> Vec<String> {
    words(&Query::parse(query)).into_iter().map(|word| word.word).collect()
}

#[track_caller]
fn check(query: &str, expect: &[&str]) {
    assert_eq!(texts(query), expect, "{query}");
}

/// Returns the word that a query of one word, possibly with stop words, is relaxed to.
#[track_caller]
fn one(query: &str) -> Word {
    let mut words = words(&Query::parse(query));
    assert_eq!(words.len(), 1, "{query}: {words:?}");
    words.remove(0)
}

#[test]
fn words_that_say_nothing_are_left_out() {
    check("When did Maria say her train arrives?", &["maria", "train", "arrives"]);
    check("welche Nummer hat der Rahmen meines Rads", &["nummer", "rahmen", "rads"]);
    check("qu'est-ce qu'on offre au père", &["offre", &fold("père")]);
    check("¿cómo se llama el perro?", &["llama", "perro"]);
    check("dove abbiamo mangiato la pizza", &["mangiato", "pizza"]);
    check("onde foi que comemos", &["comemos"]);
    check("waar hebben we het huis gevonden", &["huis", "gevonden"]);
    check("во сколько прилетает мама", &["прилетает", "мама"]);
}

#[test]
fn a_word_that_says_nothing_elsewhere_is_kept() {
    check("why did the server die", &["server", "die"]);
    check("wie war die Not", &["not"]);
}

#[test]
fn words_that_say_nothing_are_all_there_is() {
    check("to be or not to be", &["to", "be", "or", "not"]);
    check("什么时候", &["什么", "么时", "时候"]);
    check("?!", &[]);
    check("", &[]);
}

#[test]
fn each_word_comes_once_in_whatever_form() {
    check("trip trips tripping Trip", &["trip"]);
    check("went go", &["went"]);
    check("大山大山", &["大山", "山大"]);
}

#[test]
fn what_is_excluded_is_not_looked_for() {
    let term = |text: &str| Node::Term(crate::search::query::Term { text: text.to_owned(), is_prefix: false });
    let mut parts = Vec::new();
    let nodes = vec![term("red"), Node::Not(Box::new(term("green"))), Node::Any(vec![term("blue car"), term("bus")])];
    collect(&Node::All(nodes), &mut parts);
    assert_eq!(parts.iter().map(|part| part.text.as_str()).collect::<Vec<_>>(), ["red", "blue", "car", "bus"]);
}

#[test]
fn a_prefix_takes_whatever_begins_with_it() {
    let mut parts = Vec::new();
    collect(&Node::Term(crate::search::query::Term { text: "re-deplo".to_owned(), is_prefix: true }), &mut parts);
    let words = chosen(&parts, Guess::of(std::iter::empty()), true);
    assert!(words[1].takes("deployment") && !words[1].takes("depot"));
    assert!(!words[0].takes("rest"), "only the last word of a term goes on");
}

#[test]
fn forms_of_a_word_are_taken() {
    let forms = [
        ("arrive", "arrives arrived arriving"),
        ("tries", "try trying tried"),
        ("hoping", "hope hoped"),
        ("suitability", "suitable suitably"),
        ("go", "went gone goes going"),
        ("bought", "buy buying buys"),
        ("dying", "die dies died"),
        ("die kaputten Fenster", "fenstern"),
    ];
    for (query, forms) in forms {
        let word = words(&Query::parse(query)).pop().unwrap();
        for form in forms.split(' ') {
            assert!(word.takes(form), "{query} {form} {word:?}");
        }
    }
    assert!(!one("arrive").takes("arrow") && !one("go").takes("gold") && !one("4").takes("42"));
}

#[test]
fn the_language_of_a_question_makes_forms() {
    let last = |query: &str| words(&Query::parse(query)).pop().unwrap();
    assert!(last("wo sind die Schlüsseln").takes(&fold("schlüssel")));
    assert!(last("sind wir haftpflichtversichert").takes("haftpflichtkasse"));
    assert!(last("où sont les filles arrivées").takes(&fold("arrivée")));
    assert!(last("¿dónde están las habitaciones").takes(&fold("habitación")));
    assert!(last("где мои билеты").takes("билетами"));
    assert!(last("де мої квитки").takes("квитками") && last("πού είναι οι φίλοι").takes("φίλος"));
    assert!(last("¿qué reservamos").takes("reservaron"));
    assert!(!one("reservamos").takes("reservaron"), "nothing says that this is Spanish");
}

#[test]
fn scripts_without_blanks_are_looked_for_by_pairs() {
    check("去年我们订的餐厅", &["去年", "订", "餐厅"]);
    check("妈妈想用什么代替走路", &["妈妈", "妈想", "想用", "代替", "替走", "走路"]);
    check("猫の名前は何ですか", &["猫", "名前"]);
    check("もちの写真", &["もち", "写真"]);
    check("使用python编写", &["使用", "python", "编写"]);
    check("ที่พัก", &["ที", "ี่", "่พ", "พั", "ัก"]);
    check("한국어", &["한국", "국어"]);
    assert!(words(&Query::parse("餐厅")).iter().all(|word| word.is_piece));
}

#[test]
fn a_text_has_pieces_anywhere_and_words_as_words() {
    assert!(one("餐厅").is_in("一家餐厅很好"));
    assert!(!one("餐厅").is_in("餐馆"));
    assert!(one("train").is_in("two trains, one track") && !one("train").is_in("a restraint"));
}

#[test]
fn there_are_not_too_many() {
    let many: Vec<String> = (0..200).map(|number| format!("w{number}x")).collect();
    assert_eq!(texts(&many.join(" ")).len(), MAX_WORDS);
    let run: String = (0..200).map(|number| char::from_u32(0x5000 + number).unwrap()).collect();
    assert_eq!(texts(&run).len(), MAX_WORDS);
}

proptest! {
    #[test]
    fn a_word_takes_itself_and_what_it_takes_has_its_beginning(
        text in "[\\PC ]{0,40}|([a-zäéñßьіσ]{1,12} ){0,8}", other in "\\PC{0,6}|[a-zäéжа]{0,9}"
    ) {
        for word in words(&Query::parse(&text)) {
            prop_assert!(word.takes(&word.word));
            prop_assert!(word.word.starts_with(&word.prefix) && !word.prefix.is_empty());
            let ending = fold(&other).into_owned();
            for form in [format!("{}{ending}", word.prefix), ending] {
                let is_known = word.beginnings().any(|beginning| form.starts_with(beginning));
                prop_assert!(is_known || !word.takes(&form), "{form:?} {word:?}");
            }
        }
    }

    #[test]
    fn rules_take_any_word(word in "\\PC{0,12}|[a-zäöüßéèœñçåøæıİşžα-ωά-ώа-яёїєґ']{0,24}") {
        for language in Language::all() {
            let _ = language.stem(&word);
        }
    }
}
