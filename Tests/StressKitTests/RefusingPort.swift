import Foundation

/// A port of the loopback interface that refuses connections while this object exists: it is bound, and nothing
/// listens.
final class RefusingPort {
  let number: UInt16
  private let descriptor: Int32

  init() throws {
    #if canImport(Glibc)
      let stream = Int32(SOCK_STREAM.rawValue)
    #else
      let stream = SOCK_STREAM
    #endif
    let descriptor = socket(AF_INET, stream, 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    // The pointers are used during the calls only, and refer to the whole address.
    let isBound = unsafe withUnsafeMutablePointer(to: &address) { address in
      unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        unsafe bind(descriptor, address, length) == 0 && getsockname(descriptor, address, &length) == 0
      }
    }
    self.descriptor = descriptor
    number = UInt16(bigEndian: address.sin_port)
    guard descriptor >= 0, isBound else { throw CocoaError(.fileWriteUnknown) }
  }

  deinit { close(descriptor) }
}
