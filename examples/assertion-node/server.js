import { createServer } from "node:http";
import { verify } from "./verify.js";

// An application that believes the signed assertion alone.
const server = createServer(async (req, res) => {
  try {
    const who = await verify(req.headers);
    res.end(`${who.sub} is ${who.name}\n`);
  } catch {
    res.writeHead(401).end("not by way of the host\n");
  }
});
server.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
