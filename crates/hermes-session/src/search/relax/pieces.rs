//! Search pieces of scripts without spaces between words: pairs of characters, without function words.

/// Function words of Chinese and Japanese. Where one is a prefix of another, the longer one is taken.
const GLUE: &str = "\
为什么 什么时候 怎么样 怎么 什么 时候 多少 哪里 哪儿 哪个 哪家 哪天 哪一天 我们 你们 他们 她们 这个 那个 一个 後來 后来 為什麼 什麼 怎麼 我們 那個 這個 是不是 有没有 的 了 吗 嗎 呢 吧 我 你 他 她 它 们 們 这 這 那 哪 谁 誰 是 在 和 也 都 就 很 把 被 几 幾 \
でしたか ましたか ですか ますか でしょうか でした ました ません ください です ます という について どのくらい どうして どこ いつ だれ どの どんな どれ どう なぜ いくら いくつ から まで より こと する した して いる いた いて ある あった なる なった なり ない 何";

/// Particles of Japanese. They are also part of many words, so they count only next to a character that is not
/// hiragana.
const PARTICLES: &str = "のはがをにでともへやかねよ";

const fn is_hiragana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{309f}')
}

const fn is_kana(character: char) -> bool {
    matches!(character, '\u{3041}'..='\u{30ff}')
}

/// Passes the meaningful pieces of a run of paired characters to `put`: the pairs between function words, or the single
/// character left there.
pub(super) fn telling(run: &str, mut put: impl FnMut(&str)) {
    let (mut start, mut at) = (0, 0);
    while let Some(character) = run[at..].chars().next() {
        match glue(run, at) {
            Some(length) => {
                between(&run[start..at], &mut put);
                at += length;
                start = at;
            }
            None => at += character.len_utf8(),
        }
    }
    between(&run[start..], &mut put);
}

/// Passes the pieces between function words to `put`. A single kana has no meaning.
fn between(text: &str, put: &mut impl FnMut(&str)) {
    let mut characters = text.chars();
    if !(characters.next().is_some_and(is_kana) && characters.next().is_none()) {
        pairs(text, put);
    }
}

/// Passes the pairs of a text, or its only character, to `put`.
pub(super) fn pairs(text: &str, mut put: impl FnMut(&str)) {
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    match starts.len() {
        0 | 1 => {}
        2 => put(text),
        _ => starts.windows(3).for_each(|window| put(&text[window[0]..window[2]])),
    }
}

/// Returns the length of the function word at a position.
fn glue(run: &str, at: usize) -> Option<usize> {
    let rest = &run[at..];
    let character = rest.chars().next()?;
    let before = run[..at].chars().next_back();
    let after = rest.chars().nth(1);
    let is_other = |neighbour: Option<char>| neighbour.is_some_and(|neighbour| !is_hiragana(neighbour));
    let is_particle = PARTICLES.contains(character) && (is_other(before) || is_other(after));
    let longest = GLUE.split(' ').filter(|glue| rest.starts_with(glue)).map(str::len).max();
    longest.or_else(|| is_particle.then(|| character.len_utf8()))
}
