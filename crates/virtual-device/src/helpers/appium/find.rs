//! Finding elements by the strategies that clients use.

use serde::Deserialize;

use super::element::reference;
use super::uiautomator::Query;
use super::{CommandResult, Server, WebDriverError, parse_arguments, success, toast, uiautomator, xpath};
use crate::helpers::scroll;
use crate::helpers::selector::{Selector, SelectorStep, Test};
use crate::helpers::tree::Tree;
use crate::phone::Phone;

#[derive(Deserialize)]
struct Locator {
    #[serde(alias = "using")]
    strategy: String,
    #[serde(alias = "value")]
    selector: String,
    #[serde(default)]
    context: Option<String>,
}

impl Server {
    pub async fn find(&self, phone: &Phone, body: &[u8], below: Option<&str>) -> CommandResult {
        let (tree, found) = self.search(phone, body, below).await?;
        let first = found.first().ok_or_else(WebDriverError::no_element)?;
        success(reference(&self.remember(&tree, *first)?))
    }

    pub async fn find_all(&self, phone: &Phone, body: &[u8], below: Option<&str>) -> CommandResult {
        let (tree, found) = self.search(phone, body, below).await?;
        let ids = found.iter().map(|at| Ok(reference(&self.remember(&tree, *at)?)));
        success(ids.collect::<Result<Vec<_>, WebDriverError>>()?)
    }

    async fn search(
        &self,
        phone: &Phone,
        body: &[u8],
        below: Option<&str>,
    ) -> Result<(Tree, Vec<usize>), WebDriverError> {
        let wanted: Locator = parse_arguments(body)?;
        let context = below.or(wanted.context.as_deref()).filter(|id| !id.is_empty());
        if let "-android uiautomator" = wanted.strategy.as_str()
            && let Some(Query::ScrollIntoView { list, target }) = uiautomator::parse(&wanted.selector)
        {
            scroll::into_view(phone, &list, &target, true).await;
            let tree = Tree::of(phone);
            let found = target.all(&tree);
            return Ok((tree, found));
        }
        let tree = toast::tree(phone);
        let root = context.map_or(Ok(0), |id| self.locate(&tree, id))?;
        let found = match wanted.strategy.as_str() {
            "xpath" => xpath::find(&tree, root, &wanted.selector).ok_or_else(|| invalid(&wanted.selector))?,
            strategy => selector(strategy, &wanted.selector, &tree)?.all_below(&tree, root),
        };
        Ok((tree, found))
    }
}

fn invalid(selector: &str) -> WebDriverError {
    WebDriverError::new(400, "invalid selector", format!("{selector} cannot be read"))
}

fn selector(strategy: &str, value: &str, tree: &Tree) -> Result<Selector, WebDriverError> {
    let by = |name: &str, value: &str| {
        let test = Test::text(name, value).into_iter().collect();
        Selector { first: SelectorStep { tests: test, instance: None }, then: Vec::new() }
    };
    Ok(match strategy {
        "id" if value.contains(":id/") => by("resourceId", value),
        // A short id is one of the app in front.
        "id" => {
            let package = tree.nodes.first().map_or("", |node| node.get("package"));
            by("resourceId", &format!("{package}:id/{value}"))
        }
        "accessibility id" => by("description", value),
        "class name" => by("className", value),
        "-android uiautomator" => match uiautomator::parse(value) {
            Some(Query::Select(selector)) => selector,
            _ => return Err(invalid(value)),
        },
        _ => return Err(invalid(strategy)),
    })
}
