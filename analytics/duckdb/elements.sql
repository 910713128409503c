-- The credits of orders and the lines of returns, which are lists inside their items.
SELECT kind, image, element
FROM items CROSS JOIN UNNEST(CAST(
    CASE kind WHEN 'order' THEN json_extract(image, '$.credits.L') WHEN 'return' THEN json_extract(image, '$.lines.L') END
AS JSON[])) AS list (element)
