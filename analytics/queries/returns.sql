-- The units of each product that were ordered, are sent back, and came back. Orders that were cancelled do not count.
SELECT
    sold.product_id,
    sold.ordered,
    sold.units AS sold,
    coalesce(back.requested, 0) AS requested,
    coalesce(back.received, 0) AS received,
    coalesce(back.refused, 0) AS refused,
    round(100.0 * coalesce(back.received, 0) / sold.ordered, 1) AS received_percent
FROM (
    SELECT product_id, sum(ordered) AS ordered, sum(units) AS units
    FROM sales
    GROUP BY product_id
) AS sold
LEFT JOIN (
    SELECT
        product_id,
        sum(CASE WHEN status = 'requested' THEN units ELSE 0 END) AS requested,
        sum(CASE WHEN status = 'received' THEN units ELSE 0 END) AS received,
        sum(CASE WHEN status = 'refused' THEN units ELSE 0 END) AS refused
    FROM return_lines
    GROUP BY product_id
) AS back ON back.product_id = sold.product_id
ORDER BY received DESC, product_id
