//! Times one parser on one body, like a fork of JMH:
//! `sluice-crates PARSER FILE BOUNDARY CHUNK WARMUPS ITERATIONS MILLIS`.
//!
//! FILE contains the body. CHUNK is the size of its chunks in bytes. The first line of the output has the number of parts, of
//! content bytes and of bytes of names. Each other line is the mean time of an iteration in microseconds.

use std::convert::Infallible;
use std::hint::black_box;
use std::time::{Duration, Instant};

use bytes::Bytes;
use form_net::{Event, Limits, MultipartParser, Policy};
use futures_executor::block_on;
use futures_util::stream;
use memchr::memmem;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const HEADER_BYTES: usize = 8 * 1024;

/// What a parser found. `names` is the total length of all names and file names, so that a parser must read them.
#[derive(Clone, Copy, Default)]
struct Tally {
    parts: usize,
    bytes: usize,
    names: usize,
}

struct Body {
    chunks: Vec<Bytes>,
    boundary: String,
}

impl Body {
    fn stream<E: 'static>(&'static self) -> impl stream::Stream<Item = Result<Bytes, E>> + Unpin + Send {
        stream::iter(self.chunks.iter().cloned().map(Ok))
    }

    fn largest(&self) -> usize {
        self.chunks.iter().map(Bytes::len).max().unwrap_or(0)
    }
}

fn length<T: AsRef<[u8]>>(text: Option<T>) -> usize {
    text.map_or(0, |text| text.as_ref().len())
}

fn multer(body: &'static Body) -> Tally {
    let mut tally = Tally::default();
    block_on(async {
        let mut form = multer::Multipart::new(body.stream::<Infallible>(), body.boundary.as_str());
        while let Some(mut field) = form.next_field().await.unwrap() {
            tally.parts += 1;
            tally.names += length(field.name()) + length(field.file_name());
            while let Some(data) = field.chunk().await.unwrap() {
                tally.bytes += data.len();
            }
        }
    });
    tally
}

fn s3s(body: &'static Body) -> Tally {
    let mut tally = Tally::default();
    let boundary = s3s_multipart::Boundary::new(body.boundary.as_bytes()).unwrap();
    block_on(async {
        let mut form = s3s_multipart::Multipart::new(body.stream(), &boundary, HEADER_BYTES);
        while let Some(mut part) = form.next_part().await.unwrap() {
            tally.parts += 1;
            while let Some(header) = part.next_header().await.unwrap() {
                if header.name.eq_ignore_ascii_case("content-disposition") {
                    let disposition = s3s_multipart::parse_content_disposition(header.value).unwrap();
                    tally.names += length(disposition.name) + length(disposition.file_name);
                }
            }
            while let Some(data) = part.next_data().await.unwrap() {
                tally.bytes += data.len();
            }
        }
    });
    tally
}

fn form_net(body: &'static Body) -> Tally {
    let mut tally = Tally::default();
    let limits = Limits::DEFAULT
        .with_max_body_bytes(u64::MAX)
        .with_max_file_bytes(u64::MAX)
        .with_max_parts(10_000)
        .with_max_files(10_000);
    let boundary = form_net::Boundary::new(body.boundary.as_bytes()).unwrap();
    let mut parser = MultipartParser::new(boundary, &limits, &Policy::DEFAULT).unwrap();
    for (at, chunk) in body.chunks.iter().enumerate() {
        let last = at + 1 == body.chunks.len();
        let mut rest = &chunk[..];
        loop {
            let step = parser.parse(rest, last).unwrap();
            rest = &rest[step.consumed..];
            match step.event {
                Event::PartStart(head) => {
                    tally.parts += 1;
                    tally.names += head.name().len() + length(head.filename().map(|name| name.as_str().unwrap()));
                }
                Event::Data(data) => tally.bytes += black_box(data).len(),
                Event::End | Event::NeedInput => break,
                _ => {}
            }
        }
    }
    tally
}

/// Searches each chunk for the delimiter.
fn search(body: &'static Body, finder: &memmem::Finder) -> Tally {
    Tally { parts: body.chunks.iter().map(|chunk| finder.find_iter(chunk).count()).sum(), ..Tally::default() }
}

/// Copies each chunk to the same memory.
fn copy(body: &'static Body, target: &mut [u8]) -> Tally {
    for chunk in &body.chunks {
        target[..chunk.len()].copy_from_slice(chunk);
        black_box(&mut *target);
    }
    Tally::default()
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [parser, file, boundary, numbers @ ..] = args.as_slice() else {
        panic!("arguments: PARSER FILE BOUNDARY CHUNK WARMUPS ITERATIONS MILLIS");
    };
    let numbers: Vec<usize> = numbers.iter().map(|number| number.parse().unwrap()).collect();
    let bytes = Bytes::from(std::fs::read(file).unwrap());
    let chunks = (0..bytes.len()).step_by(numbers[0]).map(|at| bytes.slice(at..bytes.len().min(at + numbers[0])));
    // Leaked, because multer requires a stream that borrows nothing shorter-lived.
    let body: &'static Body = Box::leak(Box::new(Body { chunks: chunks.collect(), boundary: boundary.clone() }));
    let delimiter = format!("\r\n--{boundary}");
    let finder = memmem::Finder::new(&delimiter);
    let mut target = vec![0; body.largest()];
    let mut parse: Box<dyn FnMut() -> Tally> = match parser.as_str() {
        "multer" => Box::new(|| multer(body)),
        "s3s-multipart" => Box::new(|| s3s(body)),
        "form-net" => Box::new(|| form_net(body)),
        "memmem" => Box::new(|| search(body, &finder)),
        "copy" => Box::new(|| copy(body, &mut target)),
        _ => panic!("no such parser: {parser}"),
    };

    let tally = parse();
    println!("{} {} {}", tally.parts, tally.bytes, tally.names);
    for iteration in 0..numbers[1] + numbers[2] {
        let (start, mut operations) = (Instant::now(), 0);
        let mut elapsed = Duration::ZERO;
        while elapsed < Duration::from_millis(numbers[3] as u64) {
            black_box(parse());
            operations += 1;
            elapsed = start.elapsed();
        }
        if iteration >= numbers[1] {
            println!("{}", elapsed.as_secs_f64() * 1e6 / operations as f64);
        }
    }
}
