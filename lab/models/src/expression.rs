//! The part of DynamoDB's expressions that Till uses: conditions and updates.
//!
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Expressions.OperatorsAndFunctions.html>

use std::cmp::Ordering;
use std::collections::HashMap;

use table::{AttributeValue, Item, Rendered};

/// Whether the condition of a write holds for an item. A missing item has no attributes.
///
/// # Panics
/// If the condition uses syntax that is not supported here.
pub fn holds(write: &Rendered, item: Option<&Item>) -> bool {
    let Some(condition) = &write.condition else { return true };
    let empty = Item::new();
    let mut parser = Parser::new(condition, write, item.unwrap_or(&empty));
    let holds = parser.any();
    parser.end();
    holds
}

/// The item after a write's update.
///
/// # Panics
/// If the update uses syntax that is not supported here, or is one that DynamoDB refuses.
pub fn updated(write: &Rendered, item: &Item) -> Item {
    let Some(update) = &write.update else { return item.clone() };
    let mut parser = Parser::new(update, write, item);
    let mut after = item.clone();
    while let Some(clause) = parser.take() {
        loop {
            let path = parser.path();
            match clause {
                "SET" => {
                    parser.expect("=");
                    let value = parser.sum();
                    put(&mut after, &path, value);
                }
                "ADD" => {
                    let more = parser.operand().unwrap_or_else(|| panic!("ADD needs a value in {update}"));
                    let before = get(item, &path).cloned().unwrap_or_else(|| AttributeValue::N("0".to_owned()));
                    put(&mut after, &path, number(integer(&before) + integer(&more)));
                }
                "REMOVE" => remove(&mut after, &path),
                other => panic!("{other} in {update}"),
            }
            if parser.peek() != Some(",") {
                break;
            }
            parser.take();
        }
    }
    after
}

#[derive(Clone, Debug, PartialEq)]
enum Step {
    Name(String),
    At(usize),
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<&'a str>,
    at: usize,
    names: &'a HashMap<String, String>,
    values: &'a Item,
    item: &'a Item,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str, write: &'a Rendered, item: &'a Item) -> Self {
        Self { text, tokens: tokens(text), at: 0, names: &write.names, values: &write.values, item }
    }

    fn peek(&self) -> Option<&'a str> {
        self.tokens.get(self.at).copied()
    }

    fn take(&mut self) -> Option<&'a str> {
        self.at += 1;
        self.tokens.get(self.at - 1).copied()
    }

    fn expect(&mut self, token: &str) {
        let found = self.take();
        assert_eq!(found, Some(token), "in {}", self.text);
    }

    fn end(&self) {
        assert_eq!(self.peek(), None, "in {}", self.text);
    }

    /// Conditions joined by OR.
    fn any(&mut self) -> bool {
        let mut holds = self.all();
        while self.peek() == Some("OR") {
            self.take();
            holds |= self.all();
        }
        holds
    }

    /// Conditions joined by AND.
    fn all(&mut self) -> bool {
        let mut holds = self.one();
        while self.peek() == Some("AND") {
            self.take();
            holds &= self.one();
        }
        holds
    }

    fn one(&mut self) -> bool {
        match self.peek() {
            Some("(") => {
                self.take();
                let holds = self.any();
                self.expect(")");
                holds
            }
            Some(function @ ("attribute_exists" | "attribute_not_exists")) => {
                self.take();
                self.expect("(");
                let path = self.path();
                self.expect(")");
                get(self.item, &path).is_some() == (function == "attribute_exists")
            }
            _ => {
                let left = self.operand();
                let comparator = self.take().unwrap_or_default();
                let right = self.operand();
                compare(left.as_ref(), comparator, right.as_ref())
            }
        }
    }

    /// A value, or the sum or difference of two.
    fn sum(&mut self) -> AttributeValue {
        let first = self.operand().unwrap_or_else(|| panic!("no such attribute in {}", self.text));
        let Some(sign @ ("+" | "-")) = self.peek() else { return first };
        self.take();
        let second = self.operand().unwrap_or_else(|| panic!("no such attribute in {}", self.text));
        let (first, second) = (integer(&first), integer(&second));
        number(if sign == "+" { first + second } else { first - second })
    }

    fn operand(&mut self) -> Option<AttributeValue> {
        match self.peek() {
            Some(value) if value.starts_with(':') => {
                self.take();
                Some(self.values.get(value).unwrap_or_else(|| panic!("no {value} in {}", self.text)).clone())
            }
            _ => {
                let path = self.path();
                get(self.item, &path).cloned()
            }
        }
    }

    fn path(&mut self) -> Vec<Step> {
        let mut path = Vec::new();
        loop {
            let name = self.take().unwrap_or_default();
            let name = self.names.get(name).unwrap_or_else(|| panic!("no name {name:?} in {}", self.text));
            path.push(Step::Name(name.clone()));
            while let Some(index) = self.peek().and_then(|token| token.strip_prefix('[')) {
                self.take();
                path.push(Step::At(index.trim_end_matches(']').parse().unwrap_or_else(|_| panic!("[{index}"))));
            }
            if self.peek() != Some(".") {
                return path;
            }
            self.take();
        }
    }
}

fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '#' | ':');
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '[' => rest.find(']').map_or(rest.len(), |end| end + 1),
            _ if is_word(first) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            '<' | '>' if rest[1..].starts_with(['=', '>']) => 2,
            _ => 1,
        };
        let (token, left) = rest.split_at(length);
        tokens.push(token);
        rest = left.trim_start();
    }
    tokens
}

fn get<'a>(item: &'a Item, path: &[Step]) -> Option<&'a AttributeValue> {
    let (Step::Name(first), rest) = path.split_first()? else { return None };
    rest.iter().try_fold(item.get(first)?, |value, step| match (value, step) {
        (AttributeValue::M(map), Step::Name(name)) => map.get(name),
        (AttributeValue::L(list), Step::At(at)) => list.get(*at),
        _ => None,
    })
}

fn put(item: &mut Item, path: &[Step], new: AttributeValue) {
    match path {
        [Step::Name(name)] => _ = item.insert(name.clone(), new),
        [Step::Name(name), rest @ ..] => {
            put_in(item.get_mut(name).unwrap_or_else(|| panic!("no {name} to write into")), rest, new);
        }
        _ => panic!("{path:?} is no path"),
    }
}

fn put_in(value: &mut AttributeValue, path: &[Step], new: AttributeValue) {
    match (value, path) {
        (value, []) => *value = new,
        (AttributeValue::M(map), _) => put(map, path, new),
        (AttributeValue::L(list), [Step::At(at), rest @ ..]) => put_in(&mut list[*at], rest, new),
        (value, _) => panic!("{path:?} does not lead into {value:?}"),
    }
}

fn remove(item: &mut Item, path: &[Step]) {
    match path {
        [Step::Name(name)] => _ = item.remove(name),
        [Step::Name(name), rest @ ..] => remove_in(item.get_mut(name), rest),
        _ => panic!("{path:?} is no path"),
    }
}

fn remove_in(value: Option<&mut AttributeValue>, path: &[Step]) {
    match (value, path) {
        (Some(AttributeValue::M(map)), _) => remove(map, path),
        (Some(AttributeValue::L(list)), [Step::At(at), rest @ ..]) if !rest.is_empty() => {
            remove_in(list.get_mut(*at), rest);
        }
        (value, _) => panic!("{path:?} does not lead into {value:?}"),
    }
}

fn compare(left: Option<&AttributeValue>, comparator: &str, right: Option<&AttributeValue>) -> bool {
    let (Some(left), Some(right)) = (left, right) else { return false };
    let order = match (left, right) {
        (AttributeValue::N(_), AttributeValue::N(_)) => Some(integer(left).cmp(&integer(right))),
        (AttributeValue::S(left), AttributeValue::S(right)) => Some(left.cmp(right)),
        _ => None,
    };
    match comparator {
        "=" => left == right,
        "<>" => left != right,
        "<" => order == Some(Ordering::Less),
        "<=" => order.is_some_and(Ordering::is_le),
        ">" => order == Some(Ordering::Greater),
        ">=" => order.is_some_and(Ordering::is_ge),
        other => panic!("{other:?} is no comparator that is known here"),
    }
}

fn integer(value: &AttributeValue) -> i128 {
    match value {
        AttributeValue::N(number) => number.parse().unwrap_or_else(|_| panic!("{number} is no whole number")),
        other => panic!("{other:?} is no number"),
    }
}

fn number(number: i128) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn n(number: i64) -> AttributeValue {
        AttributeValue::N(number.to_string())
    }

    fn s(text: &str) -> AttributeValue {
        AttributeValue::S(text.to_owned())
    }

    fn item() -> Item {
        let balance = AttributeValue::M([("amount".to_owned(), n(500))].into());
        let list = AttributeValue::L(vec![n(1), n(2)]);
        [("PK", s("g")), ("balance", balance), ("uses", n(3)), ("list", list)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }

    fn write(condition: &str, update: &str) -> Rendered {
        let names =
            ["PK", "balance", "amount", "uses", "list", "none"].map(|name| (format!("#{name}"), name.to_owned()));
        let values = [(":1", n(1)), (":3", n(3)), (":500", n(500)), (":g", s("g"))];
        Rendered {
            condition: Some(condition.to_owned()).filter(|text| !text.is_empty()),
            update: Some(update.to_owned()).filter(|text| !text.is_empty()),
            names: names.into(),
            values: values.map(|(name, value)| (name.to_owned(), value)).into(),
            ..Rendered::default()
        }
    }

    #[test]
    fn conditions_are_evaluated_as_dynamodb_documents() {
        for (condition, of_item, of_none) in [
            ("attribute_not_exists(#PK)", false, true),
            ("attribute_exists(#PK)", true, false),
            ("#uses >= :3 AND #uses < :500", true, false),
            ("#uses > :3", false, false),
            ("#balance.#amount = :500", true, false),
            ("#uses <> :3 OR #list[1] > :1", true, false),
            ("attribute_not_exists(#none) OR #none = :1", true, true),
            ("(attribute_not_exists(#none) OR #none <= :1) AND (#uses = :1 OR #PK = :g)", true, false),
            ("#none = :1", false, false),
        ] {
            let write = write(condition, "");
            assert_eq!((holds(&write, Some(&item())), holds(&write, None)), (of_item, of_none), "{condition}");
        }
    }

    #[test]
    fn updates_see_the_item_as_it_was() {
        let after = updated(&write("", "SET #uses = #uses - :1, #balance.#amount = #balance.#amount + #uses"), &item());
        assert_eq!(after["uses"], n(2));
        assert_eq!(get(&after, &[Step::Name("balance".into()), Step::Name("amount".into())]), Some(&n(503)));
        let after = updated(&write("", "SET #list[0] = :3, #none = :g REMOVE #balance.#amount ADD #uses :1"), &item());
        assert_eq!((&after["list"], &after["none"]), (&AttributeValue::L(vec![n(3), n(2)]), &s("g")));
        assert_eq!((&after["balance"], &after["uses"]), (&AttributeValue::M(Item::new()), &n(4)));
    }
}
