//! The language of search.

/// A question, parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    root: Node,
}

/// A part of a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Node {
    /// A term is in the message.
    Term(Term),
    /// All of these hold; of none, everything.
    All(Vec<Node>),
    /// One of these holds.
    Any(Vec<Node>),
    /// This does not hold.
    Not(Box<Node>),
}

/// Something that is looked for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// As it was written, without quotes; never blank.
    pub text: String,
    /// Whether words that go on behind it count as whole words.
    pub is_prefix: bool,
}

impl Query {
    /// Takes a text for a question. Every text is one.
    pub fn parse(text: &str) -> Self {
        let term = |word: &str| Node::Term(Term { text: word.to_owned(), is_prefix: false });
        Self { root: Node::All(text.split_whitespace().map(term).collect()) }
    }

    /// The whole.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The terms that are not excluded, each once, in order.
    pub fn terms(&self) -> Vec<&Term> {
        let Node::All(nodes) = &self.root else { return Vec::new() };
        nodes.iter().filter_map(|node| if let Node::Term(term) = node { Some(term) } else { None }).collect()
    }

    /// Whether nothing is asked for but that things are absent.
    pub fn is_negative(&self) -> bool {
        self.is_empty()
    }

    /// Whether it asks for nothing in particular.
    pub fn is_empty(&self) -> bool {
        matches!(&self.root, Node::All(parts) if parts.is_empty())
    }
}
