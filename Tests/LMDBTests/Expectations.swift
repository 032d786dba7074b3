import LMDB

/// Returns the code of the error that `body` throws, or nil if it throws none.
func code<Result>(_ body: () throws(LMDBError) -> Result) -> LMDBError.Code? {
  do throws(LMDBError) {
    _ = try body()
    return nil
  } catch {
    return error.code
  }
}
