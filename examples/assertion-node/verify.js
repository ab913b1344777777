import { createRemoteJWKSet, jwtVerify } from "jose";

// The host's public_url; the audience is the route's name, or "verify" behind forward auth.
const issuer = process.env.ISSUER ?? "https://app.example.com";
const keys = createRemoteJWKSet(new URL(issuer + "/auth/jwks.json"));

export async function verify(headers) {
  const { payload } = await jwtVerify(headers["x-vestibule-assertion"] ?? "", keys, {
    algorithms: ["ES256"], issuer, audience: "app", clockTolerance: 10,
  });
  return payload;
}
