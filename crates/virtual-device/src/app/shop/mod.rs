//! Shop: search, product, cart and checkout, made with Compose.

mod views;

use tokio::time::{Duration, Instant};

use super::geometry::Screen;
use super::parts::UP;
use super::widget::{Key, Style, Widget};
use super::{App, Context, Effect, Values};

pub const PACKAGE: &str = "com.shop";
pub const LABEL: &str = "Shop";
pub const SEARCH: &str = ".MainActivity";
const PRODUCT: &str = ".ProductActivity";
const CART: &str = ".CartActivity";
const CHECKOUT: &str = ".CheckoutActivity";
const CONFIRMED: &str = ".ConfirmationActivity";

/// How long the shop's server takes to search and to take an order.
const SEARCH_TIME: Duration = Duration::from_millis(450);
const ORDER_TIME: Duration = Duration::from_millis(1200);
/// The largest number of one product in a cart.
const PIECES_MAX: u32 = 99;

/// Name and price in cents.
const GOODS: [(&str, u32); 16] = [
    ("Desk lamp", 3490),
    ("Floor lamp", 8900),
    ("Reading lamp", 2950),
    ("Oak table", 24900),
    ("Side table", 7900),
    ("Folding chair", 4500),
    ("Office chair", 18900),
    ("Rocking chair", 15900),
    ("Wool blanket", 5900),
    ("Linen curtain", 4200),
    ("Wall clock", 2700),
    ("Alarm clock", 1990),
    ("Picture frame", 1290),
    ("Mirror", 6400),
    ("Bookshelf", 12900),
    ("Coat rack", 3900),
];

#[derive(Debug, Clone, Default)]
pub struct Shop {
    /// Product and number, in the order of adding. It survives the process.
    cart: Vec<(usize, u32)>,
    query: String,
    /// The search text of the results.
    searched: String,
    busy_until: Option<Instant>,
    ordering: bool,
    product: usize,
    fields: [String; 4],
    /// True if the form was sent once, so that its mistakes are shown.
    sent: bool,
    orders: u32,
}

const FIELDS: [(&str, &str); 4] = [
    ("name", "Full name"),
    ("street", "Street and number"),
    ("postcode", "Postcode"),
    ("card", "Card number"),
];

impl Shop {
    fn results(&self) -> impl Iterator<Item = usize> + '_ {
        let wanted = self.searched.to_lowercase();
        (0..GOODS.len()).filter(move |at| GOODS[*at].0.to_lowercase().contains(&wanted))
    }

    fn pieces(&self) -> u32 {
        self.cart.iter().map(|(_, pieces)| pieces).sum()
    }

    fn total_cents(&self) -> u32 {
        self.cart.iter().map(|(at, pieces)| GOODS[*at].1 * pieces).sum()
    }

    /// Returns the mistake in a field of the checkout form.
    fn mistake(&self, at: usize) -> Option<&'static str> {
        let value = self.fields[at].trim();
        let digits = value.chars().filter(char::is_ascii_digit).count();
        match at {
            2 if digits != 5 || value.len() != 5 => Some("Enter five digits"),
            3 if digits != 16 => Some("Enter the 16 digits of your card"),
            _ if value.is_empty() => Some("Required"),
            _ => None,
        }
    }

    fn add(&mut self, product: usize) {
        match self.cart.iter_mut().find(|(at, _)| *at == product) {
            Some((_, pieces)) => *pieces = (*pieces + 1).min(PIECES_MAX),
            None => self.cart.push((product, 1)),
        }
    }

    fn order(&mut self, context: &mut Context) {
        self.sent = true;
        context.push(Effect::HideKeyboard);
        if (0..FIELDS.len()).any(|at| self.mistake(at).is_some()) {
            context.log('W', "Checkout", "form has mistakes");
            return;
        }
        self.ordering = true;
        self.busy_until = Some(context.now + ORDER_TIME);
        context.log('I', "okhttp.OkHttpClient", "--> POST https://api.shop.example/v1/orders");
    }
}

impl App for Shop {
    fn package(&self) -> &'static str {
        PACKAGE
    }

    fn label(&self) -> &'static str {
        LABEL
    }

    fn entry(&self) -> &'static str {
        SEARCH
    }

    fn activities(&self) -> &[&'static str] {
        &[SEARCH, PRODUCT, CART, CHECKOUT, CONFIRMED]
    }

    fn style(&self, _activity: &str) -> Style {
        Style::Compose
    }

    fn view(&self, activity: &str, _screen: &Screen) -> Widget {
        match activity {
            PRODUCT => views::product(self),
            CART => views::cart(self),
            CHECKOUT => views::checkout(self),
            CONFIRMED => views::confirmed(self),
            _ => views::search(self),
        }
    }

    fn tap(&mut self, key: Key, context: &mut Context) {
        match key.name {
            UP => context.push(Effect::Finish),
            "search" => {
                context.push(Effect::HideKeyboard);
                self.busy_until = Some(context.now + SEARCH_TIME);
                let url = format!("https://api.shop.example/v1/search?q={}", self.query.replace(' ', "+"));
                context.log('I', "okhttp.OkHttpClient", format!("--> GET {url}"));
            }
            "product" => {
                self.product = (key.index as usize).min(GOODS.len() - 1);
                context.push(Effect::Start(PRODUCT));
            }
            "add" => {
                self.add(self.product);
                context.push(Effect::Toast("Added to cart".to_owned()));
            }
            "cart" => context.push(Effect::Start(CART)),
            "less" | "more" => {
                if let Some((_, pieces)) = self.cart.get_mut(key.index as usize) {
                    *pieces = if key.name == "more" { (*pieces + 1).min(PIECES_MAX) } else { *pieces - 1 };
                }
                self.cart.retain(|(_, pieces)| *pieces > 0);
            }
            "checkout" => {
                self.sent = false;
                context.push(Effect::Start(CHECKOUT));
            }
            "order" if !self.ordering => self.order(context),
            "done" => context.push(Effect::Replace(SEARCH)),
            _ => {}
        }
    }

    fn field(&mut self, key: Key) -> Option<&mut String> {
        match key.name {
            "query" => Some(&mut self.query),
            name => FIELDS.iter().position(|(field, _)| *field == name).map(|at| &mut self.fields[at]),
        }
    }

    fn next_due(&self) -> Option<Instant> {
        self.busy_until
    }

    fn due(&mut self, context: &mut Context) {
        self.busy_until = None;
        if std::mem::take(&mut self.ordering) {
            context.log('I', "okhttp.OkHttpClient", "<-- 201 https://api.shop.example/v1/orders (1187ms)");
            self.orders += 1;
            self.cart.clear();
            let text = format!("Order {} is on its way", 1000 + self.orders);
            context.push(Effect::Notify { title: LABEL.to_owned(), text });
            context.push(Effect::Replace(CONFIRMED));
        } else {
            self.searched = self.query.clone();
            context.log('I', "okhttp.OkHttpClient", "<-- 200 https://api.shop.example/v1/search (441ms)");
        }
    }

    fn restart(&mut self) {
        *self = Shop { cart: std::mem::take(&mut self.cart), orders: self.orders, ..Shop::default() };
    }

    fn clear_data(&mut self) {
        *self = Shop::default();
    }

    fn values(&self) -> Values {
        let mut values = Values::default();
        values.fields.insert("shop.query".to_owned(), self.query.clone());
        for ((name, _), value) in FIELDS.iter().zip(&self.fields) {
            values.fields.insert(format!("shop.{name}"), value.clone());
        }
        values.fields.insert("shop.cart".to_owned(), self.pieces().to_string());
        values.fields.insert("shop.orders".to_owned(), self.orders.to_string());
        values
    }
}

fn price(cents: u32) -> String {
    format!("€{}.{:02}", cents / 100, cents % 100)
}
