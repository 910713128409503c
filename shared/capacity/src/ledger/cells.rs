//! What is different of a product whose stock lies in several cells.
//!
//! All lines of an order are of such products here. Calling it off has no case of its own: all of it goes back into
//! the first cells, and that is charged as of any product.

use key_schema::layout::Consistency::{Eventual, Strong};
use key_schema::layout::{AccessPattern as _, CellsOfStock, Declaration, ProductById};

use super::Many::{Lines, OtherCells, OtherLines};
use super::Request::{Batch, Cancelled, Keys, Query, Transaction, Write as Alone};
use super::Write::{Delete, New, Update};
use super::orders::{NEW_IN_CELLS, PLACEMENT_FROM_CELLS, SETTLED};
use super::{Operation, Request, Several, Write, each, of, one};
use crate::sample::Kind::{self, FirstCell, Product, ProductStats, Stock, StockCell};
use crate::sample::Revision::{Changed, First};

const CELLS: &[Several<Kind>] = &[one(FirstCell(First)), each(OtherCells, StockCell(First))];

/// All cells, cheaply.
const GLANCE: Request = Keys(CellsOfStock::DECLARED, CELLS);

/// Each cell as it is.
const CLOSE: Request = Keys(Declaration { consistency: Strong, ..CellsOfStock::DECLARED }, CELLS);

/// All cells twice, without which nobody is told that there is not enough.
const TWICE: [Several<Request>; 2] = [one(CLOSE), one(CLOSE)];

/// A product and the first cell of its stock, on which a change of either is decided, together with the other cells.
const PRODUCT: Several<Request> = one(Batch(Strong, &[one(Product(First)), one(FirstCell(First))]));

const PRODUCT_CHANGES: Several<Write> = one(Update(Product(First), Product(Changed)));

/// A product and every cell of its stock.
const PRODUCT_AND_CELLS: Several<Request> = one(Transaction(&[
    PRODUCT_CHANGES,
    one(Update(FirstCell(First), FirstCell(Changed))),
    each(OtherCells, Update(StockCell(First), StockCell(Changed))),
]));

/// A product and the first cell of its stock, which has the price that counts.
const PRODUCT_AND_FIRST_CELL: Several<Request> =
    one(Transaction(&[PRODUCT_CHANGES, one(Update(FirstCell(First), FirstCell(Changed)))]));

/// A unit of each line moves from one cell to another.
const GATHERED: Several<Request> = each(
    Lines,
    Transaction(&[
        one(Update(StockCell(Changed), StockCell(First))),
        one(Update(StockCell(First), StockCell(Changed))),
    ]),
);

const FIRST_LOOK: Several<Request> = one(Batch(Eventual, NEW_IN_CELLS));
const SECOND_LOOK: Several<Request> = one(Batch(Strong, NEW_IN_CELLS));
const PLACED: Several<Request> = one(Transaction(PLACEMENT_FROM_CELLS));

pub(super) const OPERATIONS: &[Operation] = &[
    of("adjust-stock", "adjusted, in several cells", &[PRODUCT, one(CLOSE), PRODUCT_AND_CELLS]),
    of("adjust-stock", "too little in several cells", &[PRODUCT, one(CLOSE), PRODUCT, TWICE[0], TWICE[1]]),
    of(
        "create-product",
        "made, in several cells",
        &[one(Transaction(&[
            one(New(Product(First))),
            one(New(FirstCell(First))),
            each(OtherCells, New(StockCell(First))),
        ]))],
    ),
    of(
        "get-product",
        "found, in several cells",
        &[
            one(Query(ProductById::DECLARED, &[one(Product(First)), one(FirstCell(First)), one(ProductStats(First))])),
            one(GLANCE),
        ],
    ),
    of("place-order", "placed, from one of several cells", &[FIRST_LOOK, PLACED]),
    of("place-order", "placed, with little in the first cell", &[FIRST_LOOK, each(Lines, GLANCE), PLACED]),
    of(
        "place-order",
        "placed, from another cell than its own",
        &[FIRST_LOOK, one(Cancelled(PLACEMENT_FROM_CELLS)), SECOND_LOOK, each(Lines, CLOSE), PLACED],
    ),
    of(
        "place-order",
        "placed, of units gathered in one cell",
        &[FIRST_LOOK, each(Lines, GLANCE), GATHERED, SECOND_LOOK, each(Lines, CLOSE), PLACED],
    ),
    of(
        "place-order",
        "out of stock in all cells",
        &[FIRST_LOOK, each(Lines, GLANCE), SECOND_LOOK, TWICE[0], TWICE[1], each(OtherLines, CLOSE), SETTLED],
    ),
    of(
        "update-product",
        "another price, in several cells",
        &[
            PRODUCT,
            one(CLOSE),
            PRODUCT_AND_FIRST_CELL,
            each(OtherCells, Alone(Update(StockCell(First), StockCell(Changed)))),
        ],
    ),
    of(
        "update-product",
        "from one cell to several",
        &[
            one(Batch(Strong, &[one(Product(First)), one(Stock(First))])),
            one(Transaction(&[
                PRODUCT_CHANGES,
                one(Update(Stock(First), FirstCell(Changed))),
                each(OtherCells, New(StockCell(First))),
            ])),
        ],
    ),
    of(
        "update-product",
        "from several cells to one",
        &[
            PRODUCT,
            one(CLOSE),
            one(Transaction(&[
                PRODUCT_CHANGES,
                one(Update(FirstCell(First), Stock(Changed))),
                each(OtherCells, Delete(StockCell(First))),
            ])),
        ],
    ),
];
