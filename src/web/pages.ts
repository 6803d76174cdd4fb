import type { Page } from "./page.tsx";
import { homePage } from "./pages/home.tsx";
import { resultPage } from "./pages/result.tsx";
import { scorePage } from "./pages/score.tsx";
import { signInPage } from "./pages/sign-in.tsx";

/** Every page; the routes come from here. */
export const PAGES: readonly Page[] = [homePage, scorePage, resultPage, signInPage];
