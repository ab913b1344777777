// An application with Express as its guide shows it: routes ignore the case of letters.
import express from "express";

const app = express();
const who = (request) => `who=${request.get("Remote-User") ?? "nobody"}`;
app.get(["/front/admin", "/front/admin/users"], (request, response) => response.send(`the admin page, ${who(request)}`));
app.get("/register", (request, response) => response.send(`the register page, ${who(request)}`));
app.get(/.*/, (request, response) => response.send(`an open page, ${who(request)}`));
app.listen(Number(process.env.PORT), "127.0.0.1");
