// What get-product does, in Node with the AWS SDK v3, and around it the least that a runtime has to do.
import { DynamoDBClient, QueryCommand } from "@aws-sdk/client-dynamodb";

const client = new DynamoDBClient({});
const table = process.env.TABLE_NAME;
const invocations = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;

async function handle(event) {
  const productId = event.pathParameters.productId;
  const found = await client.send(
    new QueryCommand({
      TableName: table,
      KeyConditionExpression: "PK = :pk",
      ExpressionAttributeValues: { ":pk": { S: `p#${productId}` } },
    }),
  );
  const product = { productId };
  for (const item of found.Items) {
    if (item.EntityType.S === "product") {
      for (const name of ["name", "description", "category"]) product[name] = item[name].S;
      const { amount, currency } = item.price.M;
      product.price = { amount: Number(amount.N), currency: currency.S };
      product.version = Number(item.version.N);
    } else if (item.EntityType.S === "stock") {
      product.available = Number(item.available.N);
    }
  }
  console.log(JSON.stringify({ level: "INFO", message: "answered", productId }));
  return { statusCode: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(product) };
}

for (;;) {
  const next = await fetch(`${invocations}/next`);
  const id = next.headers.get("lambda-runtime-aws-request-id");
  const answer = await handle(await next.json());
  await fetch(`${invocations}/${id}/response`, { method: "POST", body: JSON.stringify(answer) });
}
