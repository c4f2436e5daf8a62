package dev.sluice.threats;

import org.jspecify.annotations.Nullable;

/** What has been broken elsewhere: each row is made again as an attack on this library, see {@link Covers}. */
enum Threat {
    CVE_2014_0050(
            Table.BOUNDARY_SEARCH,
            "CVE-2014-0050",
            "Commons FileUpload before 1.3.1, Tomcat, JBoss Web",
            "a boundary longer than the buffer: the search waits for ever for room it never gets"),
    CVE_2016_3092(
            Table.BOUNDARY_SEARCH,
            "CVE-2016-3092",
            "Commons FileUpload before 1.3.2, Tomcat",
            "a boundary nearly as long as the buffer: each read gets on by a few bytes only"),
    CVE_2018_16470(
            Table.BOUNDARY_SEARCH,
            "CVE-2018-16470",
            "Rack before 2.0.6",
            "a large buffer is searched from its start again and again"),
    CVE_2023_46136(
            Table.BOUNDARY_SEARCH,
            "CVE-2023-46136",
            "Werkzeug before 3.0.1 and 2.3.8",
            "a part that starts with CR and has no other line end is kept and searched anew with each chunk"),
    CVE_2024_30251(
            Table.BOUNDARY_SEARCH, "CVE-2024-30251", "aiohttp before 3.9.4", "a crafted body makes the parser spin"),
    CVE_2024_53981(
            Table.BOUNDARY_SEARCH,
            "CVE-2024-53981",
            "python-multipart before 0.0.18",
            "text around the parts is skipped byte by byte, with a log record for each"),
    CVE_2026_40347(
            Table.BOUNDARY_SEARCH,
            "CVE-2026-40347",
            "python-multipart before 0.0.26",
            "megabytes of line ends around the parts"),
    PYTHON_MULTIPART_281(
            Table.BOUNDARY_SEARCH,
            "python-multipart 0.0.28 and 0.0.32 (281, 282, 300)",
            "python-multipart",
            "part data full of line ends and near-delimiters; boundaries of any length"),
    CVE_2025_61770(
            Table.BOUNDARY_SEARCH, "CVE-2025-61770", "Rack before 3.2.2", "a preamble of any size is kept in memory"),
    CVE_2026_125111(
            Table.BOUNDARY_SEARCH,
            "CVE-2026-125111",
            "Rack before 3.2.8",
            "small parts aligned to the edges of the buffer: what is parsed is never dropped"),
    BUSBOY_632A237(
            Table.BOUNDARY_SEARCH,
            "fastify/busboy 632a237",
            "fastify/busboy",
            "a delimiter of 256 bytes overflows the skip table: a skip of 0"),
    CVE_2018_16789(Table.BOUNDARY_SEARCH, "CVE-2018-16789", "shellinabox", "malformed multipart makes the parser spin"),

    CVE_2025_48976(
            Table.PART_HEADERS,
            "CVE-2025-48976",
            "Commons FileUpload before 1.6.0",
            "a bound per part only: very many parts with large headers"),
    CVE_2025_48988(
            Table.PART_HEADERS, "CVE-2025-48988", "Tomcat before 11.0.8", "the same through the servlet container"),
    CVE_2025_61772(Table.PART_HEADERS, "CVE-2025-61772", "Rack before 3.2.2", "a header section that never ends"),
    CVE_2026_42561(
            Table.PART_HEADERS,
            "CVE-2026-42561",
            "python-multipart before 0.0.27",
            "no bound on the count and the size of part headers"),
    PYTHON_MULTIPART_296(
            Table.PART_HEADERS,
            "python-multipart 0.0.31 (296)",
            "python-multipart",
            "a header name that never ends is checked at its end only"),
    CVE_2026_87908(
            Table.PART_HEADERS,
            "CVE-2026-87908",
            "multiparty before 4.3.1",
            "part headers gather in memory without a bound"),
    CVE_2017_12624(Table.PART_HEADERS, "CVE-2017-12624", "Apache CXF before 3.2.1", "a very long header name"),
    CVE_2023_24536(
            Table.PART_HEADERS,
            "CVE-2023-24536",
            "Go before 1.20.3",
            "many parts and headers take far more memory than is counted"),
    CVE_2023_45290(
            Table.PART_HEADERS, "CVE-2023-45290", "Go", "a header line is read whole before its size is looked at"),
    CVE_2026_94440(
            Table.PART_HEADERS,
            "CVE-2026-94440",
            "Go",
            "a budget that is nearly used up underflows, and a line of any length passes"),
    CVE_2015_4024(Table.PART_HEADERS, "CVE-2015-4024", "PHP", "folded header lines are joined in quadratic time"),
    CPP_HTTPLIB_2497(
            Table.PART_HEADERS,
            "cpp-httplib 2497, Deno 36096",
            "cpp-httplib, Deno",
            "part headers without a bound, still in 2026"),

    CVE_2022_30122(
            Table.HEADER_PARAMETERS,
            "CVE-2022-30122, CVE-2022-44571, CVE-2022-44572, CVE-2024-25126, CVE-2025-49007",
            "Rack",
            "regular expressions over Content-Disposition and Content-Type backtrack"),
    CVE_2026_34827(
            Table.HEADER_PARAMETERS,
            "CVE-2026-34827",
            "Rack before 3.2.6",
            "quoted values full of escapes, in many parts"),
    CVE_2024_24762(
            Table.HEADER_PARAMETERS,
            "CVE-2024-24762",
            "FastAPI up to 0.109.0",
            "a regular expression over the Content-Type stalls for minutes"),
    CVE_2026_28356(
            Table.HEADER_PARAMETERS,
            "CVE-2026-28356",
            "defnull/multipart before 1.3.1",
            "an exponential regular expression over header options"),
    CVE_2026_8159(
            Table.HEADER_PARAMETERS,
            "CVE-2026-8159",
            "multiparty before 4.3.0",
            "a header of 8 KB holds the event loop up"),
    CVE_2026_42504(Table.HEADER_PARAMETERS, "CVE-2026-42504", "Go", "encoded words are decoded in quadratic time"),

    CVE_2023_24998(
            Table.PART_COUNT,
            "CVE-2023-24998",
            "Commons FileUpload before 1.5, Tomcat",
            "millions of tiny parts, an object graph for each"),
    CVE_2023_28709(
            Table.PART_COUNT, "CVE-2023-28709", "Tomcat", "the limit is off by one: it does not hold at its own value"),
    CVE_2023_24580(
            Table.PART_COUNT,
            "CVE-2023-24580, CVE-2023-25577, CVE-2023-30798, CVE-2022-41725, CVE-2023-24536, CVE-2023-25576,"
                    + " CVE-2023-0662, CVE-2023-27530",
            "Django, Werkzeug, Starlette, Go, fastify/multipart, PHP, Rack",
            "no limit on parts or on files"),
    CVE_2024_29025(
            Table.PART_COUNT,
            "CVE-2024-29025",
            "Netty before 4.1.108",
            "the decoder keeps every part, and what it has not decoded, without a bound"),
    COMMONS_FILEUPLOAD_481(
            Table.PART_COUNT,
            "Commons FileUpload 481",
            "Commons FileUpload 2",
            "the limit holds in one API only: streaming and nested parts pass it by"),
    HELIDON_B5864D8D40(Table.PART_COUNT, "Helidon b5864d8d40", "Helidon", "no limit on parts"),

    CVE_2023_26048(
            Table.FIELDS_IN_MEMORY,
            "CVE-2023-26048",
            "Jetty before 11.0.14",
            "a huge part without a file name stays on the heap"),
    CVE_2023_3223(
            Table.FIELDS_IN_MEMORY,
            "CVE-2023-3223",
            "Undertow",
            "the size limit is passed by where there is no file name"),
    CVE_2024_47874(
            Table.FIELDS_IN_MEMORY,
            "CVE-2024-47874",
            "Starlette before 0.40.0",
            "parts without a file name have no size limit"),
    CVE_2025_61771(
            Table.FIELDS_IN_MEMORY,
            "CVE-2025-61771",
            "Rack before 3.2.2",
            "many fields, each below its limit, fill the heap"),
    CVE_2024_49767(
            Table.FIELDS_IN_MEMORY,
            "CVE-2024-49767",
            "Werkzeug before 3.0.6",
            "a form takes 3 to 8 times the memory that its limit says"),
    CVE_2022_41725(
            Table.FIELDS_IN_MEMORY,
            "CVE-2022-41725",
            "Go before 1.20.1",
            "what a part costs besides its bytes is free"),
    CVE_2024_3884(
            Table.FIELDS_IN_MEMORY,
            "CVE-2024-3884, CVE-2024-4027",
            "Undertow",
            "names of any size are not counted; bodies have no limit by default"),
    CVE_2023_34149(
            Table.FIELDS_IN_MEMORY,
            "CVE-2023-34149, CVE-2023-34396",
            "Struts",
            "a field becomes text whatever its size"),

    CVE_2025_52520(Table.ARITHMETIC, "CVE-2025-52520", "Tomcat before 11.0.9", "a size overflows int"),
    NETTY_15463(Table.ARITHMETIC, "Netty 15463", "Netty", "the size of data on disk overflows int"),
    PYTHON_MULTIPART_297(
            Table.ARITHMETIC,
            "python-multipart 0.0.31 (297)",
            "python-multipart",
            "a negative Content-Length means: read for ever"),
    CVE_2026_34829(
            Table.ARITHMETIC,
            "CVE-2026-34829",
            "Rack before 3.2.6",
            "without a Content-Length the limit is never looked at"),
    HELIDON_7DE1830021(Table.ARITHMETIC, "Helidon 7de1830021", "Helidon", "the Content-Length of a part is believed"),

    CVE_2025_61795(
            Table.TEMPORARY_FILES,
            "CVE-2025-61795",
            "Tomcat before 11.0.12",
            "after an error, files wait for the garbage collector"),
    CVE_2023_42794(
            Table.TEMPORARY_FILES,
            "CVE-2023-42794",
            "Tomcat on Windows",
            "a stream that the application leaves open keeps the file for ever"),
    CVE_2026_22740(
            Table.TEMPORARY_FILES,
            "CVE-2026-22740",
            "Spring WebFlux before 7.0.7",
            "the file of a part stays when the client goes away"),
    CVE_2026_18549(
            Table.TEMPORARY_FILES,
            "CVE-2026-18549",
            "fastify/multipart before 10.1.1",
            "a limit and then an abort: the handler hangs and the file stays"),
    CVE_2025_24033(Table.TEMPORARY_FILES, "CVE-2025-24033", "fastify/multipart", "a cancelled request leaves its file"),
    CVE_2025_47935(
            Table.TEMPORARY_FILES,
            "CVE-2025-47935, CVE-2026-2359, CVE-2026-3304",
            "multer before 2.1.0",
            "streams and descriptors leak; files stay after half a cleanup"),
    CVE_2023_41835(
            Table.TEMPORARY_FILES,
            "CVE-2023-41835, CVE-2025-64775, CVE-2025-66675",
            "Struts",
            "files stay when a field of the same form breaks a limit"),
    CVE_2017_1000098(Table.TEMPORARY_FILES, "CVE-2017-1000098", "Go", "an open descriptor for each part"),
    CVE_2026_3260(Table.TEMPORARY_FILES, "CVE-2026-3260", "Undertow", "the body of a GET is spooled to disk"),
    CVE_2025_54121(
            Table.TEMPORARY_FILES,
            "CVE-2025-54121",
            "Starlette before 0.47.2",
            "going over to disk blocks the event loop"),
    NETTY_10560(
            Table.TEMPORARY_FILES,
            "Netty 10560, Quarkus 24737",
            "Netty, Quarkus",
            "deleteOnExit grows for ever, and files stay until the JVM ends"),

    CVE_2021_21290(
            Table.PERMISSIONS,
            "CVE-2021-21290, CVE-2022-24823",
            "Netty before 4.1.77",
            "uploads in a shared directory that everybody may read"),
    CVE_2023_0482(
            Table.PERMISSIONS,
            "CVE-2023-0482, CVE-2023-0481, CVE-2021-28168",
            "RESTEasy, Quarkus, Jersey",
            "File.createTempFile, again"),
    CVE_2013_0248(
            Table.PERMISSIONS,
            "CVE-2013-0248, Commons FileUpload 473",
            "Commons FileUpload",
            "the directory for temporary files of the system by default, readable by all; links are followed"),

    CVE_2026_41840(
            Table.BUFFERS,
            "CVE-2026-41840",
            "Spring WebFlux before 7.0.8",
            "a slow disk and a client that leaves: queued buffers are never released"),
    VERTX_370(Table.BUFFERS, "Eclipse security 370", "Vert.x", "an aborted request never destroys its decoder"),
    NETTY_REFERENCE_COUNTS(
            Table.BUFFERS,
            "Netty, codec-http multipart",
            "Netty",
            "one change in eight of the package mends a leak or a reference count"),

    CVE_2022_24434(
            Table.MALFORMED_INPUT,
            "CVE-2022-24434",
            "dicer, busboy",
            "a malformed header throws where nobody catches, and the process dies"),
    CVE_2025_47944(
            Table.MALFORMED_INPUT,
            "CVE-2025-47944, CVE-2025-48997, CVE-2025-7338, CVE-2026-3520",
            "multer",
            "malformed and empty names; recursion without end"),
    NETTY_CONTRIB_29(
            Table.MALFORMED_INPUT,
            "netty-contrib/codec-multipart 29",
            "Netty",
            "a missing name is a NullPointerException"),
    TOMCAT_INVALID_FILE_NAME(
            Table.MALFORMED_INPUT, "Tomcat, July 2026", "Tomcat", "NUL in a file name throws what nobody catches"),
    CVE_2023_40586(Table.MALFORMED_INPUT, "CVE-2023-40586", "Coraza", "a crafted body stops the firewall"),

    CVE_2023_50164(
            Table.CLIENT_NAMES,
            "CVE-2023-50164, CVE-2024-53677",
            "Struts",
            "a parameter of nearly the same name replaces what the upload says, and with it the path"),
    CVE_2026_24486(
            Table.CLIENT_NAMES,
            "CVE-2026-24486",
            "python-multipart before 0.0.22",
            "the file name of the client becomes part of a path"),
    CVE_2021_28658(Table.CLIENT_NAMES, "CVE-2021-28658", "Django before 3.1.8", "crafted names leave the directory"),
    CVE_2022_21221(
            Table.CLIENT_NAMES,
            "CVE-2022-21221, CVE-2021-23772, CVE-2026-48753",
            "fasthttp, iris, incus",
            "dot-dot, backslashes and absolute paths in names"),

    CVE_2017_5638(
            Table.TEXT_INJECTION,
            "CVE-2017-5638",
            "Struts",
            "the error message holds the header, and is evaluated as an expression"),
    CVE_2016_1000031(
            Table.TEXT_INJECTION,
            "CVE-2016-1000031",
            "Commons FileUpload before 1.3.3",
            "a part that can be deserialized writes files"),
    CVE_2026_42507(Table.TEXT_INJECTION, "CVE-2026-42507", "Go", "input in error messages, unescaped"),

    CVE_2026_41853(
            Table.DIFFERENTIALS,
            "CVE-2026-41853",
            "Spring before 7.0.8",
            "a wildcard Content-Type is taken for multipart"),
    CVE_2026_26961(
            Table.DIFFERENTIALS,
            "CVE-2026-26961",
            "Rack before 3.2.6",
            "two boundary parameters: the firewall takes the other one"),
    CVE_2026_26962(
            Table.DIFFERENTIALS,
            "CVE-2026-26962",
            "Rack before 3.2.6",
            "a folded header keeps its line end in the value"),
    CVE_2026_21876(
            Table.DIFFERENTIALS,
            "CVE-2026-21876",
            "OWASP Core Rule Set before 4.22.0",
            "only the charset of the last part is looked at"),
    CVE_2022_39955(
            Table.DIFFERENTIALS,
            "CVE-2022-39955, CVE-2022-39956, CVE-2023-38199",
            "OWASP Core Rule Set",
            "several content types and charsets; encoded parts"),
    CVE_2022_48279(
            Table.DIFFERENTIALS,
            "CVE-2022-48279, CVE-2023-24021",
            "ModSecurity",
            "bodies read in another way than by the application; NUL"),
    CVE_2024_8925(
            Table.DIFFERENTIALS, "CVE-2024-8925", "PHP before 8.3.12", "data at the edge of a buffer is left out"),
    BUSBOY_5C838C6(
            Table.DIFFERENTIALS,
            "fastify/busboy 5c838c6, cc7da17",
            "fastify/busboy",
            "text after a closing quote joins the value; CR and LF within parameters"),
    CVE_2026_33033(
            Table.DIFFERENTIALS,
            "CVE-2026-33033",
            "Django before 6.0.4",
            "base64 with white space takes a minute for 20 MB"),
    MODSECURITY_460(
            Table.DIFFERENTIALS,
            "ModSecurity 460",
            "ModSecurity, PHP",
            "single quotes are quotes to one of two readers"),
    NETTY_17383(
            Table.DIFFERENTIALS,
            "Netty 17383, 16972, 11668, 12729, 2544",
            "Netty",
            "bytes are changed or lost where one chunk ends and the next begins"),

    CVE_2025_7783(
            Table.ENCODING,
            "CVE-2025-7783, CVE-2025-22150, CVE-2026-59921, CVE-2026-49756, GHSA-hmw2-7cc7-3qxx",
            "form-data, undici, Netty, Req",
            "predictable boundaries; line ends and quotes in names that are written",
            "the library writes no multipart: there is no encoder, no boundary is made and no name is written");

    /** The classes of threats, in the order of the document. */
    enum Table {
        BOUNDARY_SEARCH("A", "The search for the boundary"),
        PART_HEADERS("B", "Size and count of part headers"),
        HEADER_PARAMETERS("C", "Parsing of header parameters"),
        PART_COUNT("D", "Count of parts"),
        FIELDS_IN_MEMORY("E", "Fields in memory"),
        ARITHMETIC("F", "Arithmetic and announced lengths"),
        TEMPORARY_FILES("G", "Temporary files, descriptors, disk"),
        PERMISSIONS("H", "Permissions of temporary files"),
        BUFFERS("I", "Reference-counted buffers"),
        MALFORMED_INPUT("J", "Crashes on malformed input"),
        CLIENT_NAMES("K", "Names chosen by the client"),
        TEXT_INJECTION("L", "Injection through text"),
        DIFFERENTIALS("M", "Two readers, two readings"),
        ENCODING("N", "Encoding");

        final String letter;
        final String title;

        Table(String letter, String title) {
            this.letter = letter;
            this.title = title;
        }
    }

    final Table table;
    final String ids;
    final String product;
    final String story;
    final @Nullable String whyNoTest;

    Threat(Table table, String ids, String product, String story) {
        this(table, ids, product, story, null);
    }

    Threat(Table table, String ids, String product, String story, @Nullable String whyNoTest) {
        this.table = table;
        this.ids = ids;
        this.product = product;
        this.story = story;
        this.whyNoTest = whyNoTest;
    }
}
