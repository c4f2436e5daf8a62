// Reads forms with a crate: reader-rust multer|s3s-multipart|form-net. The README of the suite describes the protocol.
use std::convert::Infallible;
use std::error::Error;
use std::io::{Read, Write};

use bytes::Bytes;
use form_net::{Event, FormKind, Limits, MultipartParser, Policy};
use futures_executor::block_on;
use futures_util::stream;
use multer::parse_boundary;
use s3s_multipart::parse_content_disposition;

#[derive(Default)]
struct Part {
    name: Option<Vec<u8>>,
    filename: Option<Vec<u8>>,
    content: Vec<u8>,
}

type Parts = Result<Vec<Part>, Box<dyn Error>>;

async fn multer(content_type: &str, chunks: Vec<Bytes>) -> Parts {
    let chunks = stream::iter(chunks.into_iter().map(Ok::<_, Infallible>));
    let mut form = multer::Multipart::new(chunks, parse_boundary(content_type)?);
    let mut parts = Vec::new();
    while let Some(field) = form.next_field().await? {
        let (name, filename) = (field.name().map(Into::into), field.file_name().map(Into::into));
        parts.push(Part { name, filename, content: field.bytes().await?.into() });
    }
    Ok(parts)
}

async fn s3s(content_type: &str, chunks: Vec<Bytes>) -> Parts {
    // s3s takes the boundary from the crate mime, as multer does.
    let boundary = s3s_multipart::Boundary::new(parse_boundary(content_type)?.as_bytes())?;
    let chunks = stream::iter(chunks.into_iter().map(Ok));
    let mut form = s3s_multipart::Multipart::new(chunks, &boundary, 1 << 20);
    let mut parts = Vec::new();
    while let Some(mut part) = form.next_part().await? {
        let mut found = Part::default();
        while let Some(header) = part.next_header().await? {
            if header.name.eq_ignore_ascii_case("content-disposition") {
                let disposition = parse_content_disposition(header.value).ok_or("no form-data")?;
                (found.name, found.filename) = (disposition.name.map(Into::into), disposition.file_name.map(Into::into));
            }
        }
        while let Some(data) = part.next_data().await? {
            found.content.extend_from_slice(&data);
        }
        parts.push(found);
    }
    Ok(parts)
}

fn form_net(content_type: &str, chunks: Vec<Bytes>) -> Parts {
    let FormKind::Multipart(boundary) = FormKind::detect(content_type.as_bytes())? else {
        return Err("no form".into());
    };
    let limits = Limits::DEFAULT.with_max_part_headers(100);
    let buffer = vec![0; limits.multipart_buffer_len(&Policy::DEFAULT)];
    let mut parser = MultipartParser::with_buffer(boundary, &limits, &Policy::DEFAULT, buffer)?;
    let mut parts: Vec<Part> = Vec::new();
    for (i, chunk) in chunks.iter().enumerate() {
        let mut rest = &chunk[..];
        loop {
            let step = parser.parse(rest, i == chunks.len() - 1)?;
            rest = &rest[step.consumed..];
            match step.event {
                Event::PartStart(head) => parts.push(Part {
                    name: Some(head.name().into()),
                    filename: head.filename().map(|name| name.raw().into()),
                    content: Vec::new(),
                }),
                Event::Data(data) => parts.last_mut().ok_or("no part")?.content.extend_from_slice(data),
                Event::NeedInput => break,
                // After the end, the rest must be an epilogue.
                Event::End if rest.is_empty() => break,
                _ => {}
            }
        }
    }
    Ok(parts)
}

fn read(reader: &str, content_type: &str, chunks: Vec<Bytes>) -> Parts {
    match reader {
        "multer" => block_on(multer(content_type, chunks)),
        "s3s-multipart" => block_on(s3s(content_type, chunks)),
        _ => form_net(content_type, chunks),
    }
}

fn pack(out: &mut Vec<u8>, text: Option<&[u8]>) {
    out.extend(text.map_or(-1, |text| text.len() as i32).to_be_bytes());
    out.extend(text.unwrap_or_default());
}

fn number(input: &mut impl Read) -> Option<usize> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes).ok()?;
    Some(i32::from_be_bytes(bytes) as usize)
}

fn text(input: &mut impl Read) -> Option<Vec<u8>> {
    let mut bytes = vec![0; number(input)?];
    input.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

fn main() -> std::io::Result<()> {
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let reader = std::env::args().nth(1).unwrap_or_default();
    let lock = include_str!("Cargo.lock");
    let version = lock.split_once(&format!("name = \"{reader}\"\nversion = \"")).expect("the name of a crate").1;
    let version = version.split('"').next().unwrap_or_default();
    let mut greeting = Vec::new();
    pack(&mut greeting, Some(version.as_bytes()));
    output.write_all(&greeting)?;
    output.flush()?;
    while let Some(batch) = text(&mut input) {
        let mut batch = batch.as_slice();
        let mut answers = Vec::new();
        while let Some(content_type) = text(&mut batch) {
            let size = number(&mut batch).expect("the size of the chunks");
            let body = Bytes::from(text(&mut batch).expect("the body"));
            let size = if size == 0 { body.len().max(1) } else { size };
            let chunks = (0..body.len()).step_by(size).map(|at| body.slice(at..body.len().min(at + size))).collect();
            match read(&reader, &String::from_utf8_lossy(&content_type), chunks) {
                Err(e) => {
                    answers.push(0);
                    pack(&mut answers, Some(e.to_string().as_bytes()));
                }
                Ok(parts) => {
                    answers.push(1);
                    answers.extend((parts.len() as i32).to_be_bytes());
                    for part in parts {
                        pack(&mut answers, part.name.as_deref());
                        pack(&mut answers, part.filename.as_deref());
                        pack(&mut answers, Some(&part.content));
                    }
                }
            }
        }
        let mut reply = Vec::new();
        pack(&mut reply, Some(&answers));
        output.write_all(&reply)?;
        output.flush()?;
    }
    Ok(())
}
