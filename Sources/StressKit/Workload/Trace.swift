/// A whole trace in memory: the requests' keys in order, and each key's name and largest size.
struct Trace: Sendable {
  /// The longest trace that a stress run takes in.
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
        throw TraceError(path: path, line: reader.line, message: "the trace is longer than a stress run takes in")
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
