//! Shops whose stack has two tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use devstack::Template;
use devstack::template::Table;
use key_schema::layout::Layout;
use serde_json::Value;

use crate::aws_json;
use crate::deployed::{deployed, deployed_from};
use crate::kills::Kills;
use crate::{Shop, template_text, uncounted};

const PHASE_CACHE: &str = "MIGRATION_CACHE_MILLISECONDS";

/// The template with these tables, which is a value of its parameter `Tables`, such as `v1-v2`.
pub fn template_with(tables: &str) -> Template {
    deployed(&[("Tables", tables)])
}

/// The same, with this name for the table of layout v1.
pub fn template_of(table_name: String, tables: &str) -> Template {
    deployed_from(template_text(), table_name, &[("Tables", tables)])
}

pub fn logical_id(layout: Layout) -> &'static str {
    match layout {
        Layout::V1 => "Table",
        Layout::V2 => "TableV2",
    }
}

/// The name of the table with this layout, if the template has it.
pub fn name_of(template: &Template, layout: Layout) -> Option<&str> {
    let table = template.tables.iter().find(|table| table.logical_id == logical_id(layout));
    table.map(Table::name)
}

/// The value of an environment variable that every function has, or none.
fn variable<'a>(template: &'a Template, name: &str) -> Option<&'a str> {
    template.functions.first().and_then(|function| function.environment.get(name)).map(String::as_str)
}

/// The name of the table that the functions use while no migration is under way.
pub(crate) fn first(template: &Template) -> &str {
    variable(template, "TABLE_NAME").expect("the functions have a table")
}

impl Shop {
    /// A shop with a table of each layout, of which v1 is the first. Both streams have the template's consumers. No
    /// migration has begun.
    pub async fn open_migrating() -> Self {
        Self::open_migrating_with("v1-v2", |_| {}).await
    }

    /// A shop with these tables, whose template is changed after parsing. `tables` is a value of the parameter `Tables`.
    pub async fn open_migrating_with(tables: &str, change: impl FnOnce(&mut Template)) -> Self {
        let mut template = template_with(tables);
        change(&mut template);
        Self::start(template).await
    }

    /// The same, without consumers of streams, with functions that can be killed.
    pub async fn open_migrating_mortal(change: impl FnOnce(&mut Template)) -> (Self, Arc<Kills>) {
        let (mut template, kills) = (uncounted(template_with("v1-v2")), Arc::new(Kills::default()));
        change(&mut template);
        let shop = Self::start_with(template, BTreeMap::new(), |functions| kills.of(functions)).await;
        (shop, kills)
    }

    /// A deployment of the same stack with other tables, beside this one, which must outlive it. Its functions use a phase
    /// as long as this shop's functions do: a test whose steps do not wait would otherwise find a phase of before the step.
    pub async fn redeployed(&self, tables: &str) -> Self {
        let table = name_of(self.template(), Layout::V1).expect("the table of layout v1");
        let mut template = template_of(table.to_owned(), tables);
        if let Some(cache) = variable(self.template(), PHASE_CACHE) {
            for function in &mut template.functions {
                function.environment.insert(PHASE_CACHE.to_owned(), cache.to_owned());
            }
        }
        Self::start_at(Some(self.dynamodb_url().to_owned()), template, BTreeMap::new(), |functions| functions).await
    }

    /// The name of the second table.
    pub fn next_table(&self) -> &str {
        variable(self.template(), "NEXT_TABLE_NAME").expect("the stack has two tables")
    }

    /// Every item of this table, read directly from the engine, sorted by key.
    pub async fn dump_of(&self, table: &str) -> Vec<Value> {
        let mut items = aws_json::scan(&self.http, self.dynamodb_url(), table).await;
        items.sort_by_key(|item| format!("{} {}", item["PK"]["S"], item["SK"]["S"]));
        items
    }
}
