use super::*;
use crate::port::LogLevel;

/// Lines as `ms pid tag|message`.
fn log(lines: &[(u64, u32, &str, &str)]) -> Vec<LogEntry> {
    let entry = |(time_ms, pid, tag, message): &(u64, u32, &str, &str)| LogEntry {
        time_ms: Some(*time_ms),
        pid: Some(*pid),
        tid: None,
        level: LogLevel::Info,
        tag: (*tag).to_owned(),
        message: (*message).to_owned(),
    };
    lines.iter().map(entry).collect()
}

/// Each exchange as `METHOD url -> status or error in ms, N bytes`.
fn told(lines: &[(u64, u32, &str, &str)]) -> Vec<String> {
    exchanges(&log(lines)).iter().map(shown).collect()
}

fn shown(exchange: &Exchange) -> String {
    let mut text = format!("{} {} ->", exchange.method.as_deref().unwrap_or("?"), exchange.url);
    match (exchange.status, &exchange.error) {
        (Some(status), _) => text.push_str(&format!(" {status}")),
        (None, Some(error)) => text.push_str(&format!(" {error}")),
        (None, None) => text.push_str(" pending"),
    }
    if let Some(ms) = exchange.duration_ms {
        text.push_str(&format!(" in {ms}"));
    }
    if exchange.is_pairing_guessed {
        text.push_str(" (guessed)");
    }
    text
}

const OK: &str = "okhttp.OkHttpClient";

#[test]
fn okhttp() {
    let lines = [
        (1000, 7, OK, "--> POST https://api.example.com/v1/login http/1.1 (23-byte body)"),
        (1000, 7, OK, "Content-Type: application/json; charset=utf-8"),
        (1001, 7, OK, "{\"user\":\"ada\"}"),
        (1001, 7, OK, "--> END POST (23-byte body)"),
        (1124, 7, OK, "<-- 401 Unauthorized https://api.example.com/v1/login (123ms, 17-byte body)"),
        (1124, 7, OK, "<-- END HTTP (17-byte body)"),
        (2000, 7, OK, "--> GET https://api.example.com/v1/items"),
        (2090, 7, OK, "<-- 200 https://api.example.com/v1/items (89ms, unknown-length body)"),
        (3000, 7, OK, "--> GET https://api.example.com/v1/slow"),
        (13_000, 7, OK, "<-- HTTP FAILED: java.net.SocketTimeoutException: timeout"),
        (14_000, 7, OK, "--> GET https://api.example.com/a"),
        (
            14_012,
            7,
            OK,
            "<-- HTTP FAILED: java.net.UnknownHostException: Unable to resolve host \"api.example.com\": No address associated with hostname. https://api.example.com/a (12ms)",
        ),
    ];
    assert_eq!(
        told(&lines),
        [
            "POST https://api.example.com/v1/login -> 401 in 123",
            "GET https://api.example.com/v1/items -> 200 in 89",
            "GET https://api.example.com/v1/slow -> java.net.SocketTimeoutException: timeout in 10000",
            "GET https://api.example.com/a -> java.net.UnknownHostException: Unable to resolve host \"api.example.com\": No address associated with hostname in 12",
        ]
    );
    let all = exchanges(&log(&lines));
    assert_eq!((all[0].request.bytes, all[0].response.bytes), (Some(23), Some(17)));
    assert_eq!((all[0].began_ms, all[0].pid), (Some(1000), Some(7)));
}

#[test]
fn two_under_way_to_one_address_are_not_crossed() {
    let url = "https://h/items";
    let (ask, end) = (format!("--> GET {url}"), |ms: u64| format!("<-- 200 {url} ({ms}ms, 5-byte body)"));
    let (fast, slow) = (end(50), end(400));
    // The second is answered first: the time in the line tells which it was.
    let lines =
        [(1000, 7, OK, ask.as_str()), (1200, 7, OK, &ask), (1250, 7, OK, &fast), (1400, 7, OK, &slow)];
    assert_eq!(told(&lines), [format!("GET {url} -> 200 in 400"), format!("GET {url} -> 200 in 50")]);
    // Nothing tells them apart: it is said to be a guess.
    let lines = [(1000, 7, OK, ask.as_str()), (1001, 7, OK, &ask), (1050, 7, OK, &fast)];
    assert_eq!(told(&lines), [format!("GET {url} -> 200 in 50 (guessed)"), format!("GET {url} -> pending")]);
    // Two processes have nothing to do with each other.
    let lines = [(1000, 7, OK, ask.as_str()), (1000, 8, OK, &ask), (1050, 8, OK, &fast)];
    assert_eq!(told(&lines), [format!("GET {url} -> pending"), format!("GET {url} -> 200 in 50")]);
    // A failure without an address could be either's: it is told by itself.
    let failed = "<-- HTTP FAILED: java.io.IOException: Canceled";
    let lines = [(1000, 7, OK, ask.as_str()), (1001, 7, OK, "--> GET https://h/b"), (1050, 7, OK, failed)];
    assert_eq!(
        told(&lines),
        [
            format!("GET {url} -> pending"),
            "GET https://h/b -> pending".to_owned(),
            "?  -> java.io.IOException: Canceled in 0".to_owned()
        ]
    );
}

#[test]
fn volley() {
    let slow = "[74983] BasicNetwork.logSlowRequests: HTTP response for request=<[ ] https://nails.example/app/get_data.php 0x54f03c96 NORMAL 1> [lifetime=3561], [size=4250], [rc=200], [retryCount=0]";
    let marker =
        "[2] MarkerLog.finish: (1601 ms) [ ] https://nails.example/app/get_data.php 0x54f03c96 NORMAL 1";
    let unexpected =
        "[16306] BasicNetwork.performRequest: Unexpected response code 503 for https://h.example/g/260434";
    let lines = [(9000, 7, "Volley", slow), (9010, 7, "Volley", marker), (9999, 7, "Volley", unexpected)];
    assert_eq!(
        told(&lines),
        [
            "? https://nails.example/app/get_data.php -> 200 in 3561",
            "? https://h.example/g/260434 -> 503 in 0"
        ]
    );
    assert_eq!(exchanges(&log(&lines))[0].began_ms, Some(5439));
}

#[test]
fn url_session() {
    let task = "Task <4478B31E-21B9-4C79-8F7C-186BA02BF88A>.<14>";
    let line = |what: &str| format!("{task} {what}");
    let (sent, got, done) = (
        line("sent request, body N 0"),
        line("received response, status 200 content K"),
        line(
            "summary for task success {transaction_duration_ms=901, response_status=200, connection=19, protocol=\"http/1.1\", request_bytes=310, response_bytes=8120, cache_hit=false}",
        ),
    );
    let failed = "Task <2485F2F7-445C-4D19-A3D9-8E0704931645>.<3> finished with error [-1001] Error Domain=NSURLErrorDomain Code=-1001 \"The request timed out.\" UserInfo={NSErrorFailingURLStringKey=https://h.example/api/v1/download, NSLocalizedDescription=x}";
    let lines = [
        (1000, 7, "App", line("resuming, timeouts(60.0, 604800.0) qos(0x21)")),
        (1000, 7, "App", line("now using Connection 19")),
        (1010, 7, "App", sent),
        (1500, 7, "App", "Task <2485F2F7-445C-4D19-A3D9-8E0704931645>.<3> sent request, body N 0".to_owned()),
        (1700, 7, "App", got),
        (1902, 7, "App", line("response ended")),
        (1903, 7, "App", done),
        (61_500, 7, "App", failed.to_owned()),
    ];
    let lines: Vec<_> = lines.iter().map(|(ms, pid, tag, text)| (*ms, *pid, *tag, text.as_str())).collect();
    assert_eq!(
        told(&lines),
        [
            "?  -> 200 in 901",
            "? https://h.example/api/v1/download -> [-1001] Error Domain=NSURLErrorDomain Code=-1001 \"The request timed out.\" in 60000",
        ]
    );
    let load = line("HTTP load https://h.example/api/v1/login");
    let answer = line("received response, status 401");
    assert_eq!(
        told(&[(1, 7, "App", load.as_str()), (5, 7, "App", &answer)]),
        ["? https://h.example/api/v1/login -> 401 in 4"]
    );
}

#[test]
fn an_app_names_the_request_that_the_system_logs_without_its_address() {
    let task =
        |number: u32, what: &str| format!("Task <4478B31E-21B9-4C79-8F7C-186BA02BF88A>.<{number}> {what}");
    let done = "summary for task success {transaction_duration_ms=500, response_status=401, request_bytes=310, response_bytes=124}";
    let (first, second) = (task(1, done), task(2, done));
    let (began, also) =
        (task(1, "resuming, timeouts(60.0, 604800.0)"), task(2, "resuming, timeouts(60.0, 604800.0)"));
    let named = "POST https://h.example/login -> 401 (user: ada)";
    let one = [(1000, 7, "App", began.as_str()), (1500, 7, "App", &first), (1502, 7, "Auth", named)];
    assert_eq!(told(&one), ["POST https://h.example/login -> 401 in 500 (guessed)"]);
    assert_eq!(exchanges(&log(&one))[0].request.bytes, Some(310));
    let two = [
        (1000, 7, "App", began.as_str()),
        (1000, 7, "App", &also),
        (1500, 7, "App", &first),
        (1500, 7, "App", &second),
        (1502, 7, "Auth", named),
    ];
    assert_eq!(told(&two).len(), 3, "which of the two it is nobody knows");
    let late = [(1000, 7, "App", began.as_str()), (1500, 7, "App", &first), (1700, 7, "Auth", named)];
    assert_eq!(told(&late).len(), 2);
}

#[test]
fn ktor() {
    let lines = [
        (1000, 7, "HttpClient", "REQUEST: https://h.example/v1/items"),
        (1000, 7, "HttpClient", "METHOD: HttpMethod(value=GET)"),
        (1000, 7, "HttpClient", "COMMON HEADERS"),
        (1000, 7, "HttpClient", "-> Accept: application/json"),
        (
            1250,
            7,
            "HttpClient",
            "RESPONSE: 200 OK\nMETHOD: HttpMethod(value=GET)\nFROM: https://h.example/v1/items\nCOMMON HEADERS",
        ),
        (2000, 7, "HttpClient", "REQUEST: https://h.example/v1/orders\nMETHOD: HttpMethod(value=POST)"),
        (
            2500,
            7,
            "HttpClient",
            "REQUEST https://h.example/v1/orders failed with exception: java.net.ConnectException: Connection refused",
        ),
    ];
    assert_eq!(
        told(&lines),
        [
            "GET https://h.example/v1/items -> 200 in 250",
            "POST https://h.example/v1/orders -> java.net.ConnectException: Connection refused in 500",
        ]
    );
}

#[test]
fn dio() {
    let lines = [
        (1000, 7, "flutter", "*** Request ***"),
        (1000, 7, "flutter", "uri: https://h.example/v1/items?page=1"),
        (1000, 7, "flutter", "method: GET"),
        (1000, 7, "flutter", "responseType: ResponseType.json"),
        (1000, 7, "flutter", "connectTimeout: 0:00:30.000000"),
        (1200, 7, "flutter", "*** Response ***"),
        (1200, 7, "flutter", "uri: https://h.example/v1/items?page=1"),
        (1200, 7, "flutter", "statusCode: 200"),
        (2000, 7, "flutter", "[DIO] *** Request ***"),
        (2000, 7, "flutter", "[DIO] uri: https://h.example/v1/login"),
        (2000, 7, "flutter", "[DIO] method: POST"),
        (2100, 7, "flutter", "[DIO] *** DioException ***:"),
        (2100, 7, "flutter", "[DIO] uri: https://h.example/v1/login"),
        (
            2100,
            7,
            "flutter",
            "[DIO] DioException [bad response]: This exception was thrown because the response has a status code of 503 and RequestOptions.validateStatus was configured to throw for this status code.",
        ),
        (3000, 7, "flutter", "*** Request ***\nuri: https://h.example/x\nmethod: PUT"),
        (
            3010,
            7,
            "flutter",
            "*** DioError ***:\nuri: https://h.example/x\nDioError [DioErrorType.other]: SocketException: Failed host lookup: 'h.example'",
        ),
    ];
    assert_eq!(
        told(&lines),
        [
            "GET https://h.example/v1/items?page=1 -> 200 in 200",
            "POST https://h.example/v1/login -> 503 in 100",
            "PUT https://h.example/x -> [DioErrorType.other]: SocketException: Failed host lookup: 'h.example' in 10",
        ]
    );
}

#[test]
fn cronet_and_plain_lines() {
    for (line, expected) in [
        ("GET /items 200", "GET /items -> 200 in 0"),
        ("POST https://h.example/login -> 401 (12 ms)", "POST https://h.example/login -> 401 in 12"),
        (
            "[POST] https://h.example/orders status=201 timeout=30000",
            "POST https://h.example/orders -> 201 in 0",
        ),
        (
            "HTTP GET https://h.example/feed HTTP/1.1 304 Not Modified",
            "GET https://h.example/feed -> 304 in 0",
        ),
        ("200 GET /v1/items", "GET /v1/items -> 200 in 0"),
        (
            "PUT https://h.example/a failed: connection reset by peer",
            "PUT https://h.example/a -> failed: connection reset by peer in 0",
        ),
        ("GET /", "GET / -> pending"),
        (
            "Executing request: https://h.example/youtubei/v1/search?prettyPrint=false",
            "? https://h.example/youtubei/v1/search?prettyPrint=false -> pending",
        ),
        ("Response Code: 200 for https://h.example/sw.js", "? https://h.example/sw.js -> 200 in 0"),
        ("Received response for https://h.example/a in 118.3ms", "? https://h.example/a -> pending in 118"),
        (
            "m1.kv: Exception in CronetUrlRequest: net::ERR_NAME_NOT_RESOLVED, ErrorCode=1, InternalErrorCode=-105",
            "?  -> net::ERR_NAME_NOT_RESOLVED in 0",
        ),
    ] {
        assert_eq!(told(&[(1000, 7, "Api", line)]), [expected], "{line}");
    }
    for nothing in [
        "Extracted Video ID: 5XTx from https://music.example.com/watch?v=5XTx",
        "AdaptiveLaunch: writeToDataBase() 64: Meter aborted or could not get meter data for this run",
        "blocked url=https://ads.example/pagead/id",
        "DELETE /data/app/com.example/base.apk",
        "GET /storage/emulated/0/x.txt 200",
        "we GET /there at some point",
        "avc: denied { read } for path=\"/dev/x\" GET",
        "OPTIONS are stored in /etc/x",
        "https://h.example/ timeout",
        "--> something else",
        "<-- END HTTP",
        "loaded 200 rows in 12ms",
    ] {
        assert_eq!(told(&[(1000, 7, "Api", nothing)]), Vec::<String>::new(), "{nothing}");
    }
}

#[test]
fn requests_and_answers_in_words_are_paired() {
    let lines = [
        (30_483, 7, "Net", "Executing request: https://m.example/suggest?x=1"),
        (30_480, 7, "Net", "Executing request: https://w.example/sw.js"),
        (31_250, 7, "Net", "Response Code: 200 for https://m.example/suggest?x=1"),
        (31_179, 7, "Net", "Response Code: 500 for https://w.example/sw.js"),
    ];
    assert_eq!(
        told(&lines),
        ["? https://m.example/suggest?x=1 -> 200 in 767", "? https://w.example/sw.js -> 500 in 699"]
    );
}

#[test]
fn a_flood_of_requests_is_bounded() {
    let lines: Vec<String> = (0..10_000).map(|number| format!("--> GET https://h/{number}")).collect();
    let lines: Vec<_> =
        lines.iter().enumerate().map(|(ms, line)| (ms as u64, 7, OK, line.as_str())).collect();
    let all = exchanges(&log(&lines));
    assert_eq!(all.len(), EXCHANGES_MAX);
    assert_eq!(all.last().map(|exchange| exchange.url.as_str()), Some("https://h/9999"));
}

#[test]
fn any_text_is_survived() {
    use proptest::prelude::*;
    let pieces = [
        "--> ",
        "<-- ",
        "GET ",
        "http://",
        "https://h/é",
        " 200",
        "Task <",
        ">.<",
        "RESPONSE: ",
        "FROM: ",
        "uri: ",
        "*** Response ***",
        "HTTP FAILED: ",
        "(",
        "ms)",
        "\n",
        "ü",
        "[",
        "] ",
    ];
    proptest!(|(parts in proptest::collection::vec((0..pieces.len(), ".{0,6}"), 0..12))| {
        let text: String = parts.iter().map(|(at, other)| format!("{}{other}", pieces[*at])).collect();
        let _ = exchanges(&log(&[(1, 7, "Volley", text.as_str()), (2, 7, OK, text.as_str())]));
    });
}
