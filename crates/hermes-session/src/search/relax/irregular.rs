//! Irregular forms of English words: `went` is a form of `go`.

/// A word and its other forms on each line.
const FORMS: &str = "\
go goes going gone went
die dying
lie lying
tie tying
buy bought
bring brought
think thought
catch caught
teach taught
fight fought
seek sought
sell sold
tell told
find found
hold held
keep kept
sleep slept
leave left
lose lost
meet met
pay paid
send sent
spend spent
build built
lend lent
feel felt
deal dealt
mean meant
hear heard
make made
win won
stand stood
understand understood
sit sat
run ran
begin began begun
drink drank drunk
sing sang sung
swim swam swum
ring rang rung
come came
become became
give gave given
take took taken
write wrote written
drive drove driven
ride rode ridden
rise rose risen
choose chose chosen
speak spoke spoken
break broke broken
steal stole stolen
wake woke woken
wear wore worn
tear tore torn
eat ate eaten
fall fell fallen
see saw seen
know knew known
grow grew grown
throw threw thrown
fly flew flown
draw drew drawn
show shown
forget forgot forgotten
hide hid hidden
bite bit bitten
freeze froze frozen
shoot shot
stick stuck
strike struck
swear swore sworn
lead led
feed fed
child children
man men
woman women
foot feet
tooth teeth
mouse mice
person people
wife wives
knife knives
life lives
half halves
leaf leaves
shelf shelves";

/// Returns the forms on the line of a folded word, or of the word that it is a regular form of.
pub(super) fn forms<'w>(word: &'w str, stem: &'w str) -> impl Iterator<Item = &'static str> + 'w {
    let is_form = move |form: &str| form == word || form == stem;
    FORMS.lines().filter(move |line| line.split(' ').any(is_form)).flat_map(|line| line.split(' '))
}
