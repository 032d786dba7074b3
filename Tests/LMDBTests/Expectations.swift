import LMDB

/// The code of the error that `body` throws; nil where it throws none.
func code<Result>(_ body: () throws(LMDBError) -> Result) -> LMDBError.Code? {
  do throws(LMDBError) {
    _ = try body()
    return nil
  } catch {
    return error.code
  }
}
