//! What is looked for in scripts that put no blank between words: pairs of characters, without those that hold sentences together.

/// What Chinese and Japanese sentences are held together by. Longer ones come before the shorter ones that they begin with.
const GLUE: &[&str] = &[
    "为什么",
    "什么时候",
    "怎么样",
    "怎么",
    "什么",
    "时候",
    "多少",
    "哪里",
    "哪儿",
    "哪个",
    "哪家",
    "哪天",
    "哪一天",
    "我们",
    "你们",
    "他们",
    "她们",
    "这个",
    "那个",
    "一个",
    "後來",
    "后来",
    "為什麼",
    "什麼",
    "怎麼",
    "我們",
    "那個",
    "這個",
    "是不是",
    "有没有",
    "的",
    "了",
    "吗",
    "嗎",
    "呢",
    "吧",
    "我",
    "你",
    "他",
    "她",
    "它",
    "们",
    "們",
    "这",
    "這",
    "那",
    "哪",
    "谁",
    "誰",
    "是",
    "在",
    "和",
    "也",
    "都",
    "就",
    "很",
    "把",
    "被",
    "几",
    "幾",
    "でしたか",
    "ましたか",
    "ですか",
    "ますか",
    "でしょうか",
    "でした",
    "ました",
    "ません",
    "ください",
    "です",
    "ます",
    "という",
    "について",
    "どのくらい",
    "どうして",
    "どこ",
    "いつ",
    "だれ",
    "どの",
    "どんな",
    "どれ",
    "どう",
    "なぜ",
    "いくら",
    "いくつ",
    "から",
    "まで",
    "より",
    "こと",
    "する",
    "した",
    "して",
    "いる",
    "いた",
    "いて",
    "ある",
    "あった",
    "なる",
    "なった",
    "なり",
    "ない",
    "何",
];

/// Particles of Japanese. They are part of many words, too, and so they count only beside what is not written in hiragana.
const PARTICLES: &str = "のはがをにでともへやかねよ";

const fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{309f}')
}

const fn is_kana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{30ff}')
}

/// The pieces to look for of a run of paired characters: the pairs of what is left between the glue, or a character that stands alone.
pub(super) fn pieces(run: &str, mut put: impl FnMut(&str)) {
    let mut left = run;
    let mut start = 0;
    let mut at = 0;
    let mut before = None;
    while let Some(character) = left.chars().next() {
        let after = left[character.len_utf8()..].chars().next();
        match glue(left, before, after) {
            Some(length) => {
                pairs(&run[start..at], &mut put);
                at += length;
                start = at;
            }
            None => at += character.len_utf8(),
        }
        before = run[..at].chars().next_back();
        left = &run[at..];
    }
    pairs(&run[start..], &mut put);
}

/// How long the glue is that a text begins with.
fn glue(text: &str, before: Option<char>, after: Option<char>) -> Option<usize> {
    let character = text.chars().next()?;
    let is_other = |neighbour: Option<char>| neighbour.is_some_and(|neighbour| !is_hiragana(neighbour));
    if PARTICLES.contains(character) && (is_other(before) || is_other(after)) {
        return Some(character.len_utf8());
    }
    GLUE.iter().filter(|glue| text.starts_with(**glue)).map(|glue| glue.len()).max()
}

/// The pairs of a piece of text. One kana alone says nothing.
fn pairs(text: &str, put: &mut impl FnMut(&str)) {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    match starts.len() {
        0 | 1 => {}
        2 if text.chars().all(is_kana) => {}
        2 => put(text),
        _ => starts.windows(3).for_each(|window| put(&text[window[0]..window[2]])),
    }
}
