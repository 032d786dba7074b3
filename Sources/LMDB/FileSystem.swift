#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The status of what `path` leads to.
func fileStatus(_ path: String, operation: @autoclosure () -> String) throws(LMDBError) -> stat {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { throw LMDBError(status: errno, operation: operation()) }
  return status
}

/// The status of an open file.
func fileStatus(_ descriptor: Int32, operation: @autoclosure () -> String) throws(LMDBError) -> stat {
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else { throw LMDBError(status: errno, operation: operation()) }
  return status
}

/// Creates the directory where it is missing, with mode 0700, and its parents as `mkdir -p` does; throws where the path
/// leads to anything else.
func prepareDirectory(_ path: String, isReadOnly: Bool) throws(LMDBError) {
  let operation = "open \(path)"
  guard !path.isEmpty, !path.utf8.contains(0) else {
    throw LMDBError(.invalidArgument, operation: operation, message: "the path is empty, or has a zero byte in it")
  }
  if !isReadOnly { try createDirectory(path, mode: 0o700, operation: operation) }
  let status = try fileStatus(path, operation: operation)
  guard status.st_mode & S_IFMT == S_IFDIR else { throw LMDBError(status: ENOTDIR, operation: operation) }
}

/// Creates a file, mode 0600, and opens it for writing; throws where it exists.
func createFile(_ path: String, operation: @autoclosure () -> String) throws(LMDBError) -> Int32 {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw LMDBError(status: errno, operation: operation()) }
  return descriptor
}

/// Closes a descriptor; zero, or -1 with `errno` set.
func closeFile(_ descriptor: Int32) -> Int32 {
  close(descriptor)
}

private func createDirectory(_ path: String, mode: mode_t, operation: String) throws(LMDBError) {
  if unsafe mkdir(path, mode) == 0 { return }
  switch errno {
  case EEXIST: return
  case ENOENT:
    guard let slash = path.dropLast(while: "/").lastIndex(of: "/"), slash != path.startIndex else {
      throw LMDBError(status: ENOENT, operation: operation)
    }
    try createDirectory(String(path[..<slash]), mode: 0o777, operation: operation)
    if unsafe mkdir(path, mode) != 0, errno != EEXIST { throw LMDBError(status: errno, operation: operation) }
  case let status:
    // A directory that exists and cannot be created, as on a read-only file system, will do.
    var existing = stat()
    if unsafe stat(path, &existing) != 0 { throw LMDBError(status: status, operation: operation) }
  }
}

extension String {
  fileprivate func dropLast(while character: Character) -> Substring {
    var rest = self[...]
    while rest.last == character { rest.removeLast() }
    return rest
  }
}
