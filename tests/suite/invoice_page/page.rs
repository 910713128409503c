//! An HTML page, as a browser reads it.

use html5ever::tendril::TendrilSink as _;
use html5ever::{Attribute, ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, NodeData, RcDom};

/// What the tests need of a page.
#[derive(Default)]
pub struct Page {
    /// The names of all elements.
    pub elements: Vec<String>,
    /// The text of each node of text.
    pub texts: Vec<String>,
    /// The places where the page breaks the rules of HTML.
    pub errors: Vec<String>,
    amounts: Vec<Amount>,
}

/// An element `data`.
struct Amount {
    /// The classes of the element and of all elements around it.
    classes: Vec<String>,
    minor: i64,
    /// The text, which people read.
    written: String,
}

impl Page {
    pub fn parse(document: &str) -> Self {
        let dom = parse_document(RcDom::default(), ParseOpts::default()).one(document);
        let mut page = Self::default();
        page.errors.extend(dom.errors.borrow().iter().map(ToString::to_string));
        page.read(&dom.document, &[]);
        page
    }

    /// The amounts inside all of these classes, which spaces separate, in the order of the page.
    pub fn amounts(&self, classes: &str) -> Vec<i64> {
        self.inside(classes).map(|amount| amount.minor).collect()
    }

    /// The same amounts, as people read them.
    pub fn written(&self, classes: &str) -> Vec<&str> {
        self.inside(classes).map(|amount| &*amount.written).collect()
    }

    pub fn sum(&self, classes: &str) -> i64 {
        self.amounts(classes).iter().sum()
    }

    fn inside(&self, classes: &str) -> impl Iterator<Item = &Amount> {
        let names: Vec<String> = classes.split_whitespace().map(str::to_owned).collect();
        self.amounts.iter().filter(move |amount| names.iter().all(|name| amount.classes.contains(name)))
    }

    fn read(&mut self, node: &Handle, around: &[String]) {
        let mut classes = around.to_vec();
        match &node.data {
            NodeData::Text { contents } => self.texts.push(contents.borrow().to_string()),
            NodeData::Element { name, attrs, .. } => {
                let attributes = attrs.borrow();
                classes
                    .extend(value(&attributes, "class").iter().flat_map(|names| names.split(' ')).map(str::to_owned));
                if &*name.local == "data" {
                    let minor = value(&attributes, "value").expect("a value").parse().expect("a number");
                    self.amounts.push(Amount { classes: classes.clone(), minor, written: text(node) });
                }
                self.elements.push(name.local.to_string());
            }
            _ => {}
        }
        for child in node.children.borrow().iter() {
            self.read(child, &classes);
        }
    }
}

fn text(element: &Handle) -> String {
    let children = element.children.borrow();
    let [child] = children.as_slice() else { panic!("one child, which is a text") };
    let NodeData::Text { contents } = &child.data else { panic!("a text") };
    contents.borrow().to_string()
}

fn value<'a>(attributes: &'a [Attribute], name: &str) -> Option<&'a str> {
    attributes.iter().find(|attribute| &*attribute.name.local == name).map(|attribute| &*attribute.value)
}
