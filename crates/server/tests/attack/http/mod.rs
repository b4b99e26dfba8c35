//! The server over HTTP under attack: pages, guessers, floods, and clients that want what is another's.

mod agreed;
mod client;
mod door;
mod floods;
mod jpeg;
mod rights;
mod secrets;
mod served;
mod streams;
mod tenants;
