#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Returns the status of the file that the path leads to.
func fileStatus(_ path: String, operation: @autoclosure () -> String) throws(LMDBError) -> stat {
  var status = stat()
  guard unsafe stat(path, &status) == 0 else { throw LMDBError(status: errno, operation: operation()) }
  return status
}

/// Returns the status of an open file.
func fileStatus(_ descriptor: Int32, operation: @autoclosure () -> String) throws(LMDBError) -> stat {
  var status = stat()
  guard unsafe fstat(descriptor, &status) == 0 else { throw LMDBError(status: errno, operation: operation()) }
  return status
}

/// Ensures that the directory exists, unless it is opened read-only. A new directory has mode 0700; parents are
/// created as `mkdir -p` creates them.
///
/// Throws if the path does not lead to a directory.
func prepareDirectory(_ path: String, isReadOnly: Bool) throws(LMDBError) {
  let operation = "open \(path)"
  guard !path.isEmpty, !path.utf8.contains(0) else {
    throw LMDBError(.invalidArgument, operation: operation, message: "the path is empty or contains a zero byte")
  }
  if !isReadOnly { try createDirectory(path, mode: 0o700, operation: operation) }
  let status = try fileStatus(path, operation: operation)
  guard status.st_mode & S_IFMT == S_IFDIR else { throw LMDBError(status: ENOTDIR, operation: operation) }
}

/// Creates a file with mode 0600 and opens it for writing. Throws if the file exists.
func createFile(_ path: String, operation: @autoclosure () -> String) throws(LMDBError) -> Int32 {
  let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
  guard descriptor >= 0 else { throw LMDBError(status: errno, operation: operation()) }
  return descriptor
}

/// Closes a descriptor. Returns zero, or -1 and sets `errno`.
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
    // An existing directory is sufficient, even if `mkdir` fails for another reason, such as a read-only file system.
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
