//! Requests with an effect as words, for the record of the phone's commands.

use mdm_wire::helper::Request;

/// Returns the words of a request that touches, presses, types or acts on a node. A touch is told by where each finger first
/// came down.
pub fn words(request: &Request) -> Option<Vec<String>> {
    let (what, details) = match request {
        Request::Touch(samples) => {
            let first = samples.iter().find(|sample| !sample.fingers.is_empty())?;
            (
                "touch",
                first.fingers.iter().flat_map(|finger| [finger.x, finger.y].map(|n| n.to_string())).collect(),
            )
        }
        Request::Keys(keys) => ("keys", keys.iter().map(|key| key.code.to_string()).collect()),
        Request::Text { text, .. } => ("text", vec![text.clone()]),
        Request::Action { index, action, .. } => ("action", vec![index.to_string(), action.to_string()]),
        _ => return None,
    };
    Some([vec!["helper".to_owned(), what.to_owned()], details].concat())
}
