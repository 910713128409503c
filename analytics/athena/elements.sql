-- The credits of orders and the lines of returns, which are lists inside their items.
SELECT kind, image, element
FROM items CROSS JOIN UNNEST(CAST(json_extract(image, '$.credits.L') AS ARRAY(JSON))) AS list (element)
WHERE kind = 'order'
UNION ALL
SELECT kind, image, element
FROM items CROSS JOIN UNNEST(CAST(json_extract(image, '$.lines.L') AS ARRAY(JSON))) AS list (element)
WHERE kind = 'return'
