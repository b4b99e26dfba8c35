//! Services of lockdownd inside the tunnel, which need no TLS of their own.

use std::io;

use crate::iphone::IPhone;
use crate::iphone::usbmux::plists::{dictionary, read_dictionary, text, write};
use crate::iphone::usbmux::{Wire, lockdown, services};

pub async fn serve(phone: &IPhone, mut stream: impl Wire, service: &str) -> io::Result<()> {
    check_in(&mut stream).await?;
    if !services::is_offered(phone, service) {
        return Ok(());
    }
    services::run(phone, &mut stream, service).await
}

pub async fn lockdown(phone: &IPhone, mut stream: impl Wire) -> io::Result<()> {
    check_in(&mut stream).await?;
    lockdown::serve_trusted(phone, &mut stream).await
}

async fn check_in(stream: &mut impl Wire) -> io::Result<()> {
    let request = read_dictionary(stream).await?;
    if text(&request, "Request") != Some("RSDCheckin") {
        return Err(io::Error::other("no check-in"));
    }
    write(stream, &dictionary([("Request", "RSDCheckin".into())])).await?;
    write(stream, &dictionary([("Request", "StartService".into())])).await
}
