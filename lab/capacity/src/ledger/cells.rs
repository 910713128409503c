//! Operations on products whose stock is in several cells.
//!
//! All lines of an order are for such products here. A cancellation has no case of its own: it returns all units to the
//! first cells, which costs the same as for any product.

use key_schema::layout::Consistency::{Eventual, Strong};
use key_schema::layout::{AccessPattern as _, CellsOfStock, Declaration, ProductById};

use super::Many::{Lines, OtherCells, OtherLines};
use super::Request::{Batch, Cancelled, Keys, Query, Transaction, Write as Alone};
use super::Write::{Delete, New, Update};
use super::orders::{NEW_IN_CELLS, PLACEMENT_FROM_CELLS, SETTLED};
use super::{Operation, Request, Several, Write, each, of, one};
use sample_items::Kind::{self, FirstCell, Product, ProductStats, Stock, StockCell};
use sample_items::Revision::{Changed, First};

const CELLS: &[Several<Kind>] = &[one(FirstCell(First)), each(OtherCells, StockCell(First))];

/// All cells, eventually consistent.
const EVENTUAL_CELLS: Request = Keys(CellsOfStock::DECLARED, CELLS);

/// All cells, each strongly consistent.
const STRONG_CELLS: Request = Keys(Declaration { consistency: Strong, ..CellsOfStock::DECLARED }, CELLS);

/// All cells twice. An order is refused for lack of units only after these reads.
const PROOF: [Several<Request>; 2] = [one(STRONG_CELLS), one(STRONG_CELLS)];

/// A product and the first cell of its stock, which a change of either reads first.
const PRODUCT: Several<Request> = one(Batch(Strong, &[one(Product(First)), one(FirstCell(First))]));

const PRODUCT_CHANGES: Several<Write> = one(Update(Product(First), Product(Changed)));

/// A product and every cell of its stock.
const PRODUCT_AND_CELLS: Several<Request> = one(Transaction(&[
    PRODUCT_CHANGES,
    one(Update(FirstCell(First), FirstCell(Changed))),
    each(OtherCells, Update(StockCell(First), StockCell(Changed))),
]));

/// A product and the first cell of its stock, which has the valid price.
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
    of("adjust-stock", "adjusted, in several cells", &[PRODUCT, one(STRONG_CELLS), PRODUCT_AND_CELLS]),
    of("adjust-stock", "too little in several cells", &[PRODUCT, one(STRONG_CELLS), PRODUCT, PROOF[0], PROOF[1]]),
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
            one(EVENTUAL_CELLS),
        ],
    ),
    of("place-order", "placed, from one of several cells", &[FIRST_LOOK, PLACED]),
    of("place-order", "placed, with little in the first cell", &[FIRST_LOOK, each(Lines, EVENTUAL_CELLS), PLACED]),
    of(
        "place-order",
        "placed, from another cell than its own",
        &[FIRST_LOOK, one(Cancelled(PLACEMENT_FROM_CELLS)), SECOND_LOOK, each(Lines, STRONG_CELLS), PLACED],
    ),
    of(
        "place-order",
        "placed, of units gathered in one cell",
        &[FIRST_LOOK, each(Lines, EVENTUAL_CELLS), GATHERED, SECOND_LOOK, each(Lines, STRONG_CELLS), PLACED],
    ),
    of(
        "place-order",
        "out of stock in all cells",
        &[
            FIRST_LOOK,
            each(Lines, EVENTUAL_CELLS),
            SECOND_LOOK,
            PROOF[0],
            PROOF[1],
            each(OtherLines, STRONG_CELLS),
            SETTLED,
        ],
    ),
    of(
        "update-product",
        "another price, in several cells",
        &[
            PRODUCT,
            one(STRONG_CELLS),
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
            one(STRONG_CELLS),
            one(Transaction(&[
                PRODUCT_CHANGES,
                one(Update(FirstCell(First), Stock(Changed))),
                each(OtherCells, Delete(StockCell(First))),
            ])),
        ],
    ),
];
