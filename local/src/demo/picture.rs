//! Drawings of the demo's products: flat shapes on a plain ground, as PNG.

use std::io::Write as _;

use anyhow::Result;
use flate2::write::ZlibEncoder;
use flate2::{Compression, Crc};

/// The width and the height in pixels.
pub(super) const SIDE: usize = 320;

/// A shape with its colour. Later shapes cover earlier ones.
enum Shape {
    /// An ellipse: its centre, and half of its width and height.
    Disc(u32, [usize; 2], [usize; 2]),
    /// A trapezoid: its top and bottom, and its left and right ends at each of them.
    Slab(u32, [usize; 2], [usize; 2], [usize; 2]),
}

use Shape::{Disc, Slab};

const GROUND: u32 = 0xf1_e9_dc;
const DARK: u32 = 0x2f_2a_26;
const STEEL: u32 = 0xb8_bf_c6;

const fn bag(paper: u32, label: u32) -> [Shape; 6] {
    [
        Slab(paper, [60, 270], [95, 225], [85, 235]),
        Slab(DARK, [52, 72], [95, 225], [95, 225]),
        Slab(GROUND, [130, 220], [110, 210], [107, 213]),
        Disc(label, [160, 175], [26, 34]),
        Slab(GROUND, [141, 209], [156, 160], [160, 164]),
        Slab(label, [232, 240], [125, 195], [125, 195]),
    ]
}

/// The product, what its picture shows, and its shapes.
const PICTURES: [(&str, &str, &[Shape]); 8] = [
    ("espresso-beans", "A bag of espresso beans", &bag(0x5b_3a_29, 0x5b_3a_29)),
    ("filter-beans", "A bag of filter beans", &bag(0xc9_8b_4e, 0x8c_5a_2b)),
    ("decaf-beans", "A bag of decaf beans", &bag(0x6d_8f_7b, 0x4c_6b_58)),
    (
        "hand-grinder",
        "A hand grinder of steel",
        &[
            Slab(DARK, [62, 74], [155, 240], [155, 240]),
            Disc(0x8c_5a_2b, [240, 58], [16, 16]),
            Slab(STEEL, [74, 190], [120, 200], [120, 200]),
            Slab(DARK, [150, 162], [120, 200], [120, 200]),
            Slab(0x8c_5a_2b, [190, 270], [125, 195], [115, 205]),
        ],
    ),
    (
        "gooseneck-kettle",
        "A kettle with a thin spout",
        &[
            Disc(DARK, [235, 170], [45, 60]),
            Disc(GROUND, [232, 170], [30, 44]),
            Slab(STEEL, [90, 235], [52, 62], [100, 130]),
            Slab(STEEL, [110, 265], [120, 210], [85, 245]),
            Slab(DARK, [98, 112], [118, 212], [118, 212]),
            Disc(DARK, [165, 90], [12, 12]),
        ],
    ),
    (
        "espresso-cup",
        "A cup of espresso on a saucer",
        &[
            Disc(0xd8_c3_a5, [160, 262], [125, 20]),
            Disc(0x3f_7d_78, [232, 170], [38, 38]),
            Disc(GROUND, [232, 170], [20, 20]),
            Slab(0x3f_7d_78, [120, 255], [80, 240], [118, 202]),
            Disc(0x35_6a_66, [160, 120], [80, 20]),
            Disc(0x5b_3a_29, [160, 122], [68, 14]),
        ],
    ),
    (
        "paper-filters",
        "A paper filter",
        &[
            Slab(0xd9_cf_bd, [75, 265], [75, 265], [135, 205]),
            Slab(0xfb_f8_f2, [85, 255], [55, 245], [115, 185]),
            Slab(0xd9_cf_bd, [245, 255], [112, 188], [115, 185]),
        ],
    ),
    (
        "moka-pot",
        "A moka pot of aluminium",
        &[
            Slab(DARK, [100, 190], [205, 250], [225, 240]),
            Slab(STEEL, [85, 170], [110, 215], [125, 195]),
            Slab(STEEL, [170, 270], [125, 195], [100, 220]),
            Slab(DARK, [166, 176], [122, 198], [122, 198]),
            Slab(0x9a_a2_aa, [70, 86], [130, 195], [108, 217]),
            Disc(DARK, [162, 62], [12, 12]),
        ],
    ),
];

/// What the picture of a product shows, and the picture.
pub(super) fn of(product: &str) -> Option<(&'static str, Result<Vec<u8>>)> {
    let (_, alt, shapes) = PICTURES.iter().find(|(id, ..)| *id == product)?;
    Some((alt, png(shapes)))
}

impl Shape {
    const fn colour(&self) -> u32 {
        let (Self::Disc(colour, ..) | Self::Slab(colour, ..)) = self;
        *colour
    }

    /// The ends of the part of this row that the shape covers.
    fn span(&self, row: usize) -> Option<[usize; 2]> {
        match self {
            Self::Disc(_, [x, y], [width, height]) => {
                let away = row.abs_diff(*y);
                let covered = (height * height).checked_sub(away * away)?;
                let half = (width * width * covered).isqrt() / height;
                Some([x - half, x + half])
            }
            Self::Slab(_, [top, bottom], above, below) if (*top..*bottom).contains(&row) => {
                let end = |at: usize| (above[at] * (bottom - row) + below[at] * (row - top)) / (bottom - top);
                Some([end(0), end(1)])
            }
            Self::Slab(..) => None,
        }
    }
}

/// A picture with a palette: the ground, and a colour for each shape.
fn png(shapes: &[Shape]) -> Result<Vec<u8>> {
    // Each row begins with its filter, which is none: 0.
    let mut rows = vec![0; (SIDE + 1) * SIDE];
    for (shape, colour) in shapes.iter().zip(1..) {
        for (y, row) in rows.chunks_mut(SIDE + 1).enumerate() {
            if let Some([left, right]) = shape.span(y) {
                row[1 + left..=right].fill(colour);
            }
        }
    }
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&rows)?;
    let palette = std::iter::once(GROUND).chain(shapes.iter().map(Shape::colour));
    let palette: Vec<_> = palette.flat_map(|colour| colour.to_be_bytes().into_iter().skip(1)).collect();
    let side = u32::try_from(SIDE)?.to_be_bytes();
    // Eight bits for each pixel, which are a colour of the palette.
    let head = [&side[..], &side, &[8, 3, 0, 0, 0]].concat();
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    for (kind, data) in [(b"IHDR", head), (b"PLTE", palette), (b"IDAT", packed.finish()?), (b"IEND", Vec::new())] {
        let (length, body) = (u32::try_from(data.len())?, [&kind[..], &data].concat());
        let mut sum = Crc::new();
        sum.update(&body);
        png.extend([&length.to_be_bytes()[..], &body, &sum.sum().to_be_bytes()].concat());
    }
    Ok(png)
}
