use proptest::prelude::*;

use super::*;

fn request_again(request: &Request) -> Result<Request, Broken> {
    let bytes = request.frame(7);
    let (head, payload) = bytes.split_first_chunk::<HEAD_BYTES>().unwrap();
    let head = Head::decode(*head, REQUEST_BYTES_MAX)?;
    assert_eq!((head.id, head.payload_bytes), (7, payload.len()));
    Request::decode(head.kind, payload)
}

fn answer_again(answer: &Answer, request: &Request) -> Answer {
    let kind = request.frame(0)[HEAD_BYTES - 1];
    let bytes = answer.frame(9, kind);
    let (head, payload) = bytes.split_first_chunk::<HEAD_BYTES>().unwrap();
    let head = Head::decode(*head, ANSWER_BYTES_MAX).unwrap();
    assert!(Answer::answers(head.kind, request));
    Answer::decode(head.kind, payload).unwrap()
}

/// A tree in which every fact of a node stands once.
fn rich_tree() -> Tree {
    let seek_bar = Node {
        flags: Flags(Flags::ENABLED | Flags::FOCUSABLE),
        class: "android.widget.SeekBar".into(),
        package: "org.example".into(),
        id: "org.example:id/volume".into(),
        bounds: [-12, 40, 1080, 140],
        drawing_order: 3,
        hint: Some("Loudness".into()),
        state_description: Some("38 %".into()),
        role_description: Some("dial".into()),
        error: Some("too loud".into()),
        pane_title: Some("Sound".into()),
        tooltip: Some("drag".into()),
        range: Some(Range { kind: 0, min: 0.0, max: 100.0, current: 38.0 }),
        collection: Some(Collection { rows: -1, columns: 1, selection_mode: 2, hierarchical: true }),
        item: Some(CollectionItem {
            row: 4,
            row_span: 1,
            column: 0,
            column_span: 1,
            heading: false,
            selected: true,
        }),
        live_region: Some(1),
        input_type: Some(0x81),
        selection: Some((-1, -1)),
        actions: vec![NodeAction { id: 0x0102_003d, label: "set".into() }],
        source: Some((12, u64::MAX)),
        container_title: Some("list".into()),
        expanded_state: Some(3),
        ..Node::default()
    };
    let root = Node { class: "android.widget.FrameLayout".into(), children: 1, ..Node::default() };
    let window = Window {
        id: -5,
        kind: 1,
        layer: 7,
        flags: WindowFlags(WindowFlags::ACTIVE | WindowFlags::FOCUSED),
        title: "Mixer ü".into(),
        bounds: [0, 0, 1080, 2400],
        parent: None,
        nodes: vec![root, seek_bar],
    };
    let popup = Window { id: 6, parent: Some(0), nodes: vec![Node::default()], ..Window::default() };
    Tree {
        serial: 2,
        uptime_ms: 1234,
        width: 1080,
        height: 2400,
        rotation: 1,
        component: "org.example/.Mixer".into(),
        complete: true,
        windows: vec![window, popup],
    }
}

#[test]
fn requests_are_read_as_they_were_written() {
    let touch = vec![
        Sample { at_ms: 0, fingers: vec![Finger { id: 0, x: 5, y: -6 }, Finger { id: 1, x: 9, y: 9 }] },
        Sample { at_ms: 40, fingers: vec![] },
    ];
    let requests = [
        Request::Hello(Hello { version: 1, nonce: [7; NONCE_BYTES] }),
        Request::Tree { known: u64::MAX },
        Request::Touch(touch),
        Request::Keys(vec![KeyPress { code: 66, meta: 1, hold_ms: 500 }]),
        Request::Text { mode: TextMode::InsertAndSubmit, serial: 3, index: 4, text: "grün 漢字".into() },
        Request::Action { serial: 1, index: 2, action: 16, argument: Argument::None },
        Request::Action { serial: 1, index: 2, action: 17, argument: Argument::Progress(0.5) },
        Request::Action { serial: 1, index: 2, action: 18, argument: Argument::Selection(0, -1) },
        Request::Picture { width_max: 461, height_max: 1024, quality: 80 },
        Request::GetClipboard,
        Request::SetClipboard("x".into()),
        Request::Events { on: true },
        Request::Release,
        Request::Bye,
    ];
    for request in requests {
        assert_eq!(request_again(&request), Ok(request));
    }
}

#[test]
fn answers_are_read_as_they_were_written() {
    let tree = rich_tree();
    let new = TreeAnswer::New { hash: tree.hash(), tree };
    let picture =
        ScreenPicture { width: 1080, height: 2400, format: PictureFormat::Png, bytes: vec![1, 2, 3] };
    let text = Request::Text { mode: TextMode::Insert, serial: 0, index: 0, text: String::new() };
    let pairs = [
        (
            Answer::Hello(Welcome { version: 1, sdk: 36, uptime_ms: 99 }),
            Request::Hello(Hello { version: 1, nonce: [0; NONCE_BYTES] }),
        ),
        (Answer::Tree(Box::new(TreeAnswer::Same)), Request::Tree { known: 5 }),
        (Answer::Tree(Box::new(new)), Request::Tree { known: 0 }),
        (Answer::Text(TextWay::Pasted), text.clone()),
        (Answer::Picture(picture), Request::Picture { width_max: 0, height_max: 0, quality: 0 }),
        (Answer::Clipboard(None), Request::GetClipboard),
        (Answer::Clipboard(Some("a".into())), Request::GetClipboard),
        (Answer::Done, Request::Release),
        (Answer::Refused(Refusal { code: RefusalCode::NodeChanged, message: "no".into() }), text.clone()),
        (Answer::Refused(Refusal { code: RefusalCode::Other(77), message: String::new() }), text),
    ];
    for (answer, request) in pairs {
        assert_eq!(answer_again(&answer, &request), answer);
    }
}

#[test]
fn an_event_is_read_as_it_was_written() {
    let event = UiEvent {
        number: 3,
        uptime_ms: 5,
        merged: 9,
        kind: UiEvent::NOTIFICATION_STATE_CHANGED,
        content_changes: 2,
        window: -1,
        package: "org.example".into(),
        class: "android.widget.Toast".into(),
        text: "Saved".into(),
    };
    assert_eq!(UiEvent::decode(&event.frame()[HEAD_BYTES..]), Ok(event));
}

#[test]
fn a_tree_keeps_its_hash_until_something_in_it_changes() {
    let tree = rich_tree();
    let later = Tree { serial: 9, uptime_ms: 99_999, ..tree.clone() };
    assert_eq!(later.hash(), tree.hash(), "serial and time are not of the screen");
    let mut other = tree.clone();
    other.windows[0].nodes[1].range = Some(Range { kind: 0, min: 0.0, max: 100.0, current: 39.0 });
    assert_ne!(other.hash(), tree.hash());
}

#[test]
fn a_gesture_that_could_leave_a_finger_down_is_refused() {
    let down = Sample { at_ms: 0, fingers: vec![Finger { id: 0, x: 0, y: 0 }] };
    let up = |at_ms| Sample { at_ms, fingers: vec![] };
    for samples in [vec![], vec![down.clone()], vec![down.clone(), up(60_001)], vec![up(5), up(4)]] {
        assert!(request_again(&Request::Touch(samples.clone())).is_err(), "{samples:?}");
    }
    let too_many = vec![up(0); 2_001];
    assert!(request_again(&Request::Touch(too_many)).is_err());
}

#[test]
fn a_tree_whose_children_do_not_add_up_is_refused() {
    let broken = |edit: fn(&mut Vec<Node>)| {
        let mut tree = rich_tree();
        edit(&mut tree.windows[0].nodes);
        let bytes = Answer::Tree(Box::new(TreeAnswer::New { hash: 1, tree })).frame(1, 2);
        Answer::decode(2 | ANSWER_BIT, &bytes[HEAD_BYTES..]).unwrap_err()
    };
    assert_eq!(broken(|nodes| nodes[0].children = 2), Broken("children are missing"));
    assert_eq!(broken(|nodes| nodes[0].children = 0), Broken("a node belongs to no parent"));
    assert_eq!(broken(|nodes| nodes[1].children = usize::MAX), Broken("children are missing"));
}

#[test]
fn a_frame_that_is_too_long_or_has_no_room_for_its_head_is_refused() {
    let head = |length: u32| {
        let mut bytes = [0; HEAD_BYTES];
        bytes[..4].copy_from_slice(&length.to_be_bytes());
        Head::decode(bytes, 100)
    };
    assert!(head(101).is_err() && head(4).is_err() && head(u32::MAX).is_err());
    assert_eq!(head(5).unwrap().payload_bytes, 0);
}

proptest! {
    /// Whatever arrives is read or refused; nothing panics, and nothing is reserved that was not sent.
    #[test]
    fn hostile_bytes_are_refused(kind: u8, bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = Answer::decode(kind, &bytes);
        let _ = Request::decode(kind, &bytes);
        let _ = UiEvent::decode(&bytes);
    }

    /// One changed byte of a good tree gives another tree or a refusal.
    #[test]
    fn a_damaged_tree_is_read_or_refused(at in 0usize..600, byte: u8) {
        let tree = rich_tree();
        let mut bytes = Answer::Tree(Box::new(TreeAnswer::New { hash: 1, tree })).frame(1, 2);
        let at = HEAD_BYTES + at % (bytes.len() - HEAD_BYTES);
        bytes[at] = byte;
        let _ = Answer::decode(2 | ANSWER_BIT, &bytes[HEAD_BYTES..]);
    }
}

/// Messages that the Java program wrote (`helper/vectors`, each with a text beside it that a person can read).
fn vector(name: &str) -> (Head, Vec<u8>) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../helper/vectors").join(name);
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let (head, payload) = bytes.split_first_chunk::<HEAD_BYTES>().unwrap();
    let head = Head::decode(*head, ANSWER_BYTES_MAX).unwrap();
    assert_eq!(head.payload_bytes, payload.len(), "{name}");
    (head, bytes)
}

fn answer_of(name: &str) -> Answer {
    let (head, bytes) = vector(name);
    let answer = Answer::decode(head.kind, &bytes[HEAD_BYTES..]).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(answer.frame(head.id, head.kind & !ANSWER_BIT), bytes, "{name} is written as Java wrote it");
    answer
}

#[test]
fn every_message_of_the_java_program_is_read_and_written_alike() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../helper/vectors");
    let names =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.filter(|name| name.ends_with(".bin")).collect();
    assert!(names.len() >= 20, "{names:?}");
    for name in names {
        let (head, bytes) = vector(&name);
        let payload = &bytes[HEAD_BYTES..];
        if name.ends_with("-request.bin") {
            let request = Request::decode(head.kind, payload).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert_eq!(request.frame(head.id), bytes, "{name}");
        } else if name.starts_with("event-") {
            assert_eq!(UiEvent::decode(payload).unwrap().frame(), bytes, "{name}");
        } else {
            answer_of(&name);
        }
    }
}

#[test]
fn facts_of_a_tree_of_the_java_program_are_those_of_its_page() {
    let Answer::Tree(tree) = answer_of("tree-answer.bin") else { panic!("no tree") };
    let TreeAnswer::New { hash, tree } = *tree else { panic!("no new tree") };
    assert_eq!((hash, tree.hash()), (0xac99_9095_9f77_77a8, hash), "both sides hash alike");
    assert_eq!((tree.serial, tree.component.as_str()), (3, "org.example/org.example.MainActivity"));
    let [base, dialog] = &tree.windows[..] else { panic!("two windows") };
    assert_eq!((base.nodes.len(), dialog.parent, &*dialog.title), (5, Some(0), "Delete?"));
    let field = &base.nodes[1];
    assert_eq!(field.error.as_deref(), Some("No address"));
    assert_eq!((field.hint.as_deref(), field.selection), (Some("you@example.org"), Some((4, 4))));
    assert!(field.flags.has(Flags::EDITABLE) && !field.flags.has(Flags::CHECKED));
    let range = base.nodes[2].range.unwrap();
    assert_eq!((range.kind, range.min, range.max, range.current), (1, -1.5, 10.0, 2.25));
    assert_eq!(base.nodes[4].item.map(|item| (item.row, item.column_span)), Some((7, 2)));
    assert_eq!(&*dialog.nodes[0].text, "café 😀 \"quoted\"\nline");
    assert_eq!(dialog.nodes[0].bounds, [-40, 900, 1120, 1500]);
}
