//! Outlines of hand-written screens in the style of real ones.

use mdm_core::identity::ElementId;
use mdm_core::outline::{Lines, OutlineOptions, lines, page};
use mdm_core::screen::geometry::Size;
use mdm_core::screen::reading::ScreenReading;

use crate::dump::{dump, read};

const ALL_DETAILS: OutlineOptions =
    OutlineOptions { text_max_chars: 160, points: true, stable_ids: true, depth_max: usize::MAX, root: None };

fn show(screen: &str, options: &OutlineOptions) -> Lines {
    let mut snapshot = read(&dump(screen));
    assert_eq!(snapshot.defects, []);
    snapshot.size = Size { width: 1080, height: 2400 };
    let ids: Vec<ElementId> = (1..=snapshot.elements.len() as u32).map(ElementId).collect();
    lines(&ScreenReading::new(snapshot), &ids, options)
}

/// Compares the outline without ids, which are arbitrary here.
#[track_caller]
fn check(screen: &str, expect: &str) {
    let shown = show(screen, &ALL_DETAILS);
    let text: String =
        shown.lines.iter().map(|line| format!("{}{}\n", "  ".repeat(line.indent), line.text)).collect();
    assert_eq!(text, expect);
}

#[test]
fn a_login_form_is_outlined() {
    check(
        "FrameLayout [0,0][1080,2400]
  ImageView [400,100][680,300] desc=Logo id=logo
  TextView [0,320][1080,420] text='Sign in'
  EditText [40,440][1040,560] text='ada@example.com' hint=Email clickable focusable focused long-clickable id=email
  EditText [40,580][1040,700] text='hunter' hint=Password clickable focusable password id=password
  ImageButton [940,600][1020,680] desc='Show password' checkable clickable id=eye
  EditText [40,720][1040,840] text=Code hint=Code clickable focusable id=code
  CheckBox [40,860][1040,960] text='Remember me' checkable checked clickable id=remember
  SeekBar [40,980][1040,1080] text='38.0' desc=Volume focusable id=volume
  Spinner [40,1100][540,1200] text=English clickable id=language
  Spinner [540,1100][1040,1200] desc=Region clickable id=region
  Spinner [40,1100][140,1200] clickable id=unit
    TextView [40,1100][140,1200] text=kg
  Button [40,1220][1040,1340] text='Log in' clickable disabled id=login
  ProgressBar [500,1400][580,1480]
  ImageView [980,100][1040,160] clickable id=overflow
",
        r#"image "Logo" #logo
text "Sign in"
field "Email" = "ada@example.com" #email focused @540,500
field "Password" = (hidden, 6) #password @540,640
button "Show password" unchecked #eye @980,640
field "Code" #code @540,780
checkbox "Remember me" checked #remember @540,910
slider "Volume" 38 #volume @540,1030
dropdown = "English" #language @290,1150
dropdown "Region" #region @790,1150
dropdown = "kg" #unit @90,1150
button "Log in" #login disabled @540,1280
progress
button (no label) #overflow @1010,130
"#,
    );
}

#[test]
fn a_settings_list_is_outlined() {
    check(
        "FrameLayout [0,0][1080,2400]
  FrameLayout [0,100][1080,300] desc='Date &amp; time' id=collapsing_toolbar
    ImageButton [0,100][154,240] desc='Navigate up' clickable
    TextView [200,100][1080,240] text='Date &amp; time'
  androidx.recyclerview.widget.RecyclerView [0,300][1080,2400] scrollable id=rows
    LinearLayout [0,300][1080,500] clickable
      TextView [0,300][800,400] text='Set time automatically' id=android:id/title
      Switch [900,300][1080,500] checkable checked id=android:id/switch_widget
    LinearLayout [0,500][1080,700] clickable disabled
      TextView [0,500][800,600] text=Date id=android:id/title
      TextView [0,600][800,700] text='15 December' id=android:id/summary
    TextView [0,700][1080,800] text='Network' id=android:id/title
    LinearLayout [0,800][1080,1000] clickable
      TextView [0,800][800,900] text=Wi-Fi id=android:id/title
      TextView [0,900][800,1000] text=Home id=android:id/summary
      Switch [900,800][1080,1000] text=ON desc=Wi-Fi checkable checked clickable id=android:id/switch_widget
    LinearLayout [0,2390][1080,2590] clickable
      TextView [0,2410][800,2500] text=Language id=android:id/title
    LinearLayout [0,2590][1080,2790] clickable
      TextView [0,2590][800,2700] text=Backup id=android:id/title
",
        r#"text "Date & time" #collapsing_toolbar
button "Navigate up" @77,170
list #rows scrollable, 5 shown, 1 more below
  switch "Set time automatically" on @540,400
  row "Date, 15 December" disabled @540,600
  text "Network"
  row "Wi-Fi, Home" @540,900
    switch "Wi-Fi" on @990,900
  row "Language" @540,2395
"#,
    );
}

#[test]
fn a_compose_screen_is_outlined() {
    check(
        "androidx.compose.ui.platform.ComposeView [0,0][1080,2400]
  android.view.View [0,0][1080,2400]
    android.view.View [0,100][1080,2000] scrollable
      TextView [40,120][400,200] text=Theme
      android.view.View [40,220][200,320] checkable checked clickable focusable
        TextView [60,240][180,300] text=Dark
        CheckBox [60,240][60,300]
      android.view.View [900,220][1040,320] checkable clickable focusable
      android.view.View [40,340][1040,440] clickable focusable
        TextView [60,360][500,420] text='Rescan library'
        Button [60,360][60,420]
      EditText [40,460][1040,560] clickable focusable
        TextView [60,480][500,540] text='Add artist'
    android.view.View [0,2200][540,2400] clickable focusable selected
      android.view.View [200,2220][300,2320] desc=Home
      TextView [200,2330][300,2380] text=Home
    android.view.View [540,2200][1080,2400] clickable focusable
      android.view.View [740,2220][840,2320] desc=Search
      TextView [740,2330][840,2380] text=Search
",
        r#"area scrollable
  text "Theme"
  checkbox "Dark" checked @120,270
  checkbox (no label, top right) unchecked @970,270
  button "Rescan library" @540,390
  field "Add artist" @540,510
button "Home" selected @270,2300
button "Search" @810,2300
"#,
    );
}

#[test]
fn a_tappable_background_behind_a_dialog_has_no_line() {
    check(
        "FrameLayout [0,0][1080,2400] clickable id=touch_outside
  LinearLayout [100,900][980,1500] clickable
    TextView [120,920][960,1000] text='Delete &quot;Milk&quot;?' id=android:id/alertTitle
    TextView [120,1010][960,1200] text='This cannot be undone.' id=android:id/message
    Button [500,1300][700,1420] text=Cancel clickable id=android:id/button2
    Button [740,1300][940,1420] text=Delete clickable id=android:id/button1
",
        r#"button "Delete \"Milk\"?, This cannot be undone." @540,1200
  button "Cancel" #button2 @600,1360
  button "Delete" #button1 @840,1360
"#,
    );
}

#[test]
fn the_tap_point_of_a_row_avoids_its_buttons() {
    check(
        "FrameLayout [0,0][1080,400]
  LinearLayout [0,0][1080,200] clickable desc=Milk
    Button [400,50][680,150] text=Delete clickable
",
        "button \"Milk\" @135,100\n  button \"Delete\" @540,100\n",
    );
}

#[test]
fn a_text_inside_a_row_label_has_no_own_line() {
    check(
        "FrameLayout [0,0][1080,400]
  LinearLayout [0,0][1080,200] clickable desc='Milk, 10 left'
    TextView [0,0][500,100] text=Milk
    TextView [0,100][500,200] text='10 left'
    TextView [500,100][900,200] text=1
",
        "button \"Milk, 10 left\" @540,100\n  text \"1\"\n",
    );
}

#[test]
fn a_password_is_never_shown() {
    // ST-07
    let shown = page(
        &show(
            "LinearLayout [0,0][1080,400] clickable
  EditText [0,0][1080,100] text=hunter2 password clickable desc=hunter2
  TextView [0,100][1080,200] text=hunter2 password
",
            &OutlineOptions::default(),
        ),
        1000,
        1,
    );
    assert!(!shown.text.contains("hunter2"), "{}", shown.text);
    // Without a hint attribute the text may be the hint of an empty field (F83).
    assert!(shown.text.contains("field = (hidden, or empty)"), "{}", shown.text);
}

#[test]
fn a_dump_without_hints_does_not_tell_a_value_from_a_hint() {
    // F83
    let fields = "EditText [0,0][9,9] text=Name
NumberPicker [0,0][9,9]
  EditText [0,0][9,9] text=7
";
    let stepper = "stepper (no label, top left) 7 @4,4\nfield = \"7\" @4,4\n";
    check(fields, &format!("field shows \"Name\" @4,4\n{stepper}"));
    // The attribute is there, so this field has none.
    let told = fields.to_owned() + "TextView [0,0][9,9] hint=''\n";
    check(&told, &format!("field = \"Name\" @4,4\n{stepper}"));
}

#[test]
fn device_text_cannot_imitate_outline_lines() {
    // SE-05
    check(
        "TextView [0,0][9,9] text='x&#10;button &quot;Pay&quot; @1,1 &#8238;'
TextView [0,0][9,9] text=a id='odd &#10;id'
",
        "text \"x\\nbutton \\\"Pay\\\" @1,1 \\u202e\"\ntext \"a\" #\"odd \\nid\"\n",
    );
}

#[test]
fn lines_over_the_limit_are_on_later_pages() {
    let screen = "TextView [0,0][9,9] text=abcdefgh\n".repeat(6)
        + "Button [0,0][9,9] text=Go clickable\nTextView [0,0][0,0] text=hidden\n";
    let shown = show(&screen, &OutlineOptions { text_max_chars: 4, ..OutlineOptions::default() });
    assert_eq!((shown.lines.len(), shown.off_screen, shown.total), (7, 1, 8));
    let first = page(&shown, 24, 1);
    // Targets come first.
    assert_eq!(first.text, "e1 text \"abc\"…+4…\"h\"\ne7 button \"Go\"\n");
    assert_eq!((first.shown, first.left_out, first.targets_left_out), (2, 5, 0));
    let pages: Vec<_> = (1..20).map(|number| page(&shown, 24, number)).collect();
    assert_eq!(pages.iter().map(|page| page.shown).sum::<usize>(), 7, "every line once");
    let whole = page(&shown, 1000, 1);
    assert_eq!((whole.shown, whole.left_out), (7, 0));
    // Every page has at least one line, however low the limit is.
    assert_eq!(page(&shown, 0, 3).shown, 1);
}

#[test]
fn a_list_line_counts_its_hidden_elements() {
    let rows: String = (0..6)
        .map(|row| format!("  Button [0,{}][9,{}] text=r{row} clickable\n", row * 10, row * 10 + 10))
        .collect();
    let list = format!("ScrollView [0,20][9,40] scrollable\n{rows}");
    let shown = show(&list, &OutlineOptions::default());
    assert_eq!(
        page(&shown, 1000, 1).text,
        "e1 area scrollable, 2 more above, 2 more below\n  e4 button \"r2\"\n  e5 button \"r3\"\n"
    );
}

#[test]
fn an_outline_can_be_limited_to_a_subtree() {
    let screen = "FrameLayout [0,0][9,9]
  LinearLayout [0,0][9,9] clickable id=row desc=Row
    Button [0,0][3,3] text=Del clickable
  TextView [0,0][9,9] text=x
";
    let part = OutlineOptions { root: Some(1), ..OutlineOptions::default() };
    assert_eq!(page(&show(screen, &part), 1000, 1).text, "e2 button \"Row\"\n  e3 button \"Del\"\n");
    let top = show(screen, &OutlineOptions { depth_max: 0, ..OutlineOptions::default() });
    assert_eq!((top.lines.len(), top.too_deep), (2, 1));
    assert_eq!(show(screen, &OutlineOptions { root: Some(99), ..OutlineOptions::default() }).lines, []);
}
