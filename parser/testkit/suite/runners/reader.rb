# Reads forms with Rack. The README of the suite describes the protocol.
require 'rack'
require 'rack/multipart'
require 'stringio'

# A body that is read as from a socket: at most one chunk at a time.
class Chunks < StringIO
  def initialize(body, size)
    super(body)
    @largest = size
  end

  def read(size = @largest, out = nil)
    super([size, @largest].min, out)
  end
end

# Receives the parts instead of Rack's query parser, which keeps only the last part of a name.
class Order
  attr_reader :parts

  def initialize
    @parts = []
  end

  def make_params
    self
  end

  def to_params_hash
    {}
  end

  def param_depth_limit
    100
  end

  def normalize_params(_params, name, data, _depth)
    @parts << (data.is_a?(Hash) ? [name, data[:filename].to_s, data[:tempfile].string] : [name, nil, data])
  end
end

def read(type, size, body)
  order = Order.new
  files = ->(_filename, _type) { StringIO.new(+''.b) }
  chunks = Chunks.new(body, size.zero? ? body.bytesize : size)
  info = Rack::Multipart::Parser.parse(chunks, body.bytesize, type, files, Rack::Multipart::Parser::BUFSIZE, order)
  raise 'no form' if info.params.nil?

  order.parts
end

def packed(text)
  text.nil? ? [-1].pack('l>') : [text.bytesize].pack('l>') + text.b
end

def taken(input)
  size = input.read(4)
  size && input.read(size.unpack1('l>')).to_s
end

$stdin.binmode
$stdout.binmode
$stdout.sync = true
$stdout.write(packed(Rack::RELEASE))
while (batch = taken($stdin))
  bodies = StringIO.new(batch)
  reply = +''.b
  while (type = taken(bodies))
    size = bodies.read(4).unpack1('l>')
    begin
      parts = read(type.force_encoding('UTF-8'), size, taken(bodies))
      reply << "\1" << [parts.size].pack('l>')
      parts.each { |part| part.each { |text| reply << packed(text) } }
    rescue StandardError => e
      reply << "\0" << packed("#{e.class}: #{e.message[0, 200]}")
    end
  end
  $stdout.write(packed(reply))
end
