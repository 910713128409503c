-- The lines of orders, with their share of the order's discount. The lines of an order with several codes, or a code of a
-- category, say what is taken off them. Any other discount the shop divides as this view does: it rounds the share of the
-- first line, of the first two lines, and so on, half to even, so no cent is lost. A quotient is cast because a division of
-- integers is exact in Trino and floating in DuckDB. Both are exact here below 2^50.
SELECT
    order_id, product_id, name, quantity, unit_price, amount,
    amount - CASE
        WHEN said > 0 THEN coalesce(taken_off, 0)
        ELSE shared - coalesce(lag(shared) OVER (PARTITION BY order_id ORDER BY place), 0)
    END AS net_amount
FROM (
    SELECT
        order_id, place, product_id, name, quantity, unit_price, amount, taken_off,
        count(taken_off) OVER (PARTITION BY order_id) AS said,
        whole + CASE WHEN 2 * rest > subtotal OR (2 * rest = subtotal AND mod(whole, 2) = 1) THEN 1 ELSE 0 END AS shared
    FROM (
        SELECT
            order_id, place, product_id, name, quantity, unit_price, amount, taken_off, subtotal,
            mod(product, divisor) AS rest,
            CAST((product - mod(product, divisor)) / divisor AS bigint) AS whole
        FROM (
            SELECT
                lines_of_items.order_id, place, product_id, name, quantity, unit_price, amount, taken_off, subtotal,
                greatest(subtotal, 1) AS divisor,
                discount * CAST(sum(amount) OVER (
                    PARTITION BY lines_of_items.order_id ORDER BY place
                ) AS bigint) AS product
            FROM (
                SELECT
                    json_extract_scalar(image, '$.orderId.S') AS order_id,
                    CAST(json_extract_scalar(image, '$.position.N') AS bigint) AS place,
                    json_extract_scalar(image, '$.productId.S') AS product_id,
                    json_extract_scalar(image, '$.name.S') AS name,
                    CAST(json_extract_scalar(image, '$.quantity.N') AS bigint) AS quantity,
                    CAST(json_extract_scalar(image, '$.unitPrice.M.amount.N') AS bigint) AS unit_price,
                    CAST(json_extract_scalar(image, '$.amount.M.amount.N') AS bigint) AS amount,
                    CAST(json_extract_scalar(image, '$.discount.M.amount.N') AS bigint) AS taken_off
                FROM items
                WHERE kind = 'orderItem'
            ) AS lines_of_items
            INNER JOIN orders ON orders.order_id = lines_of_items.order_id
        ) AS cumulative
    ) AS divided
) AS rounded
