/** Style sheets are imported for what they do; the bundle puts them into one. */
declare module "*.css";
