Bun.env.NODE_ENV ??= "production";
