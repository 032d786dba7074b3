/// An origin that is a function call. A run with it puts more load on the cache.
struct InProcessOrigin: Origin {
  let behaviour: OriginBehaviour

  func fetch(_ key: Int) async throws -> [UInt8] {
    try await behaviour.delay()
    try Task.checkCancellation()
    if behaviour.fails() { throw OriginError.status(503) }
    return behaviour.value(of: key, payload: nil)
  }
}
