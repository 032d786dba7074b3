import InputFormats

/// A whole trace in memory: the keys of the requests in order, and the name and largest size of each key.
struct Trace: Sendable {
  /// The maximum number of requests in the trace of a stress run.
  static let mostRequests = 50_000_000

  let keys: [String]
  let sizes: [Int?]
  let requests: [Int32]

  init(path: String) throws {
    var reader = try TraceReader(path: path)
    var requests: [Int32] = []
    var sizes: [Int?] = []
    while let request = try reader.next() {
      guard requests.count < Trace.mostRequests, request.key < Int32.max else {
        throw TraceError(path: path, line: reader.line, message: "the trace has too many requests for a stress run")
      }
      requests.append(Int32(request.key))
      if request.key == sizes.count {
        sizes.append(request.size)
      } else if let size = request.size {
        sizes[request.key] = max(size, sizes[request.key] ?? 0)
      }
    }
    self.requests = requests
    self.sizes = sizes
    keys = reader.keys
  }
}
