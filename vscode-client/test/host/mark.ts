/** Begins each line that the tests themselves print; everything else goes to the log alone. */
export const MARK = "[tests] ";
