//! The whole product in one runtime: tools, engine, adb client, adbd, app. With tokio's clock paused, minutes of phone
//! time pass in milliseconds and always the same way.

mod bad_input;
mod cuts;
mod fleet;
mod hostile_trees;
mod mcp;
mod story;
mod world;
