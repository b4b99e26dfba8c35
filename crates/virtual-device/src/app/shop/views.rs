//! The screens of the shop.

use super::{FIELDS, GOODS, PACKAGE, Shop, price};
use crate::app::parts::{
    button, caption, column, field, framed, heading, label, list, page, row, text_button,
};
use crate::app::widget::{Appearance, Key, Layout, Size, Widget};

fn tag(widget: Widget, name: &str) -> Widget {
    widget.id(PACKAGE, name)
}

fn picture(side_dp: i32, description: &str) -> Widget {
    Widget::new("android.widget.ImageView")
        .description(description)
        .appearance(Appearance::Picture)
        .size(Size::Dp(side_dp), Size::Dp(side_dp))
}

/// The cart button, with the number of items in a text of its own.
fn cart_button(shop: &Shop) -> Widget {
    let mut inside = vec![picture(24, "Cart")];
    if shop.pieces() > 0 {
        let badge = caption(shop.pieces().to_string()).size(Size::Dp(24), Size::Dp(24));
        inside.push(tag(badge, "cart_badge"));
    }
    let cart = row(48, inside).size(Size::Dp(64), Size::Dp(48)).on_tap(Key::of("cart"));
    tag(cart, "cart")
}

pub fn search(shop: &Shop) -> Widget {
    let find = Widget::new("android.widget.Button").appearance(Appearance::TextButton).text("Search");
    let find = find.size(Size::Dp(88), Size::Dp(48)).on_tap(Key::of("search"));
    let query = field("Search the shop", &shop.query, Key::of("query"));
    let bar = row(64, [tag(query, "query"), tag(find, "search_button"), cart_button(shop)]);
    let results: Vec<usize> = shop.results().collect();
    let body = if shop.busy_until.is_some() {
        let wait = Widget::new("android.widget.ProgressBar")
            .appearance(Appearance::Spinner)
            .size(Size::Fill, Size::Dp(64));
        column(0, [wait]).size(Size::Fill, Size::Fill)
    } else if results.is_empty() {
        column(0, [label(format!("Nothing found for \"{}\"", shop.searched))]).size(Size::Fill, Size::Fill)
    } else {
        list(PACKAGE, "results", results.into_iter().map(result))
    };
    let body = column(8, [bar, caption("Free delivery from €50.00"), body]).size(Size::Fill, Size::Fill);
    framed(PACKAGE, "Shop", body)
}

fn result(at: usize) -> Widget {
    let (name, cents) = GOODS[at];
    let texts = column(0, [label(name), caption(price(cents))]);
    Widget::new("android.view.View")
        .appearance(Appearance::Row)
        .size(Size::Fill, Size::Dp(88))
        .layout(Layout::Row, 12, 12)
        .on_tap(Key { name: "product", index: at as u32 })
        .child(picture(56, ""))
        .child(texts)
}

pub fn product(shop: &Shop) -> Widget {
    let (name, cents) = GOODS[shop.product];
    let top = row(56, [tag(heading(name), "product_name"), cart_button(shop)]);
    let shown = picture(0, name).size(Size::Fill, Size::Dp(240));
    let more = ["In stock", "Delivery in 3 days", "Two years of guarantee", "30 days to return it"];
    page(
        PACKAGE,
        "Product",
        [top, shown, tag(heading(price(cents)), "price")]
            .into_iter()
            .chain(more.map(caption))
            .chain([tag(button("Add to cart", Key::of("add")), "add_to_cart")]),
    )
    .stands_for(&format!("product {name}"))
}

pub fn cart(shop: &Shop) -> Widget {
    if shop.cart.is_empty() {
        return page(PACKAGE, "Cart", [label("Your cart is empty"), caption("What you add is kept here")]);
    }
    let lines = shop.cart.iter().zip(0u32..).map(|((at, pieces), index)| {
        let (name, cents) = GOODS[*at];
        let step = |text: &str, name: &'static str, what: &str| {
            let step = text_button(text, Key { name, index }).size(Size::Dp(48), Size::Dp(48));
            step.description(what.to_owned())
        };
        let count = label(pieces.to_string()).size(Size::Dp(32), Size::Dp(32));
        let texts = column(0, [label(name), caption(price(cents * pieces))]);
        let line =
            row(64, [texts, step("-", "less", "Fewer"), tag(count, "pieces"), step("+", "more", "More")]);
        line.stands_for(&format!("{name} in the cart"))
    });
    let total = row(48, [label("Total"), tag(label(price(shop.total_cents())), "total")]);
    let go = tag(button("Checkout", Key::of("checkout")), "checkout");
    page(PACKAGE, "Cart", lines.collect::<Vec<_>>().into_iter().chain([total, go]))
}

pub fn checkout(shop: &Shop) -> Widget {
    let mut body = Vec::new();
    for (at, (name, hint)) in FIELDS.into_iter().enumerate() {
        body.push(tag(field(hint, &shop.fields[at], Key::of(name)), name));
        if let Some(mistake) = shop.mistake(at).filter(|_| shop.sent) {
            body.push(tag(
                label(mistake).appearance(Appearance::Error).size(Size::Fill, Size::Dp(24)),
                "mistake",
            ));
        }
    }
    body.push(row(40, [label("To pay"), tag(label(price(shop.total_cents())), "total")]));
    if shop.ordering {
        let wait = Widget::new("android.widget.ProgressBar").appearance(Appearance::Spinner);
        body.push(wait.size(Size::Fill, Size::Dp(48)));
    }
    let go = button("Place order", Key::of("order")).enabled(!shop.ordering);
    body.push(tag(go, "place_order"));
    page(PACKAGE, "Checkout", body)
}

pub fn confirmed(shop: &Shop) -> Widget {
    let number = format!("Order number {}", 1000 + shop.orders);
    page(
        PACKAGE,
        "Thank you",
        [
            picture(96, "Done"),
            heading("Your order is on its way"),
            tag(label(number), "order_number"),
            caption("We sent you a message with all details"),
            tag(button("Continue shopping", Key::of("done")), "continue"),
        ],
    )
}
